"""Run ferrio, a fio-compatible I/O benchmark for Linux, and read its reports."""

from ._compare import Comparison, compare
from ._document import Document
from ._program import FerrioError, program
from ._run import Jobs, RunError, run

__all__ = ["Comparison", "Document", "FerrioError", "Jobs", "RunError", "compare", "program", "run"]
