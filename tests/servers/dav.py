"""A WebDAV server (wsgidav) on a free port of the loopback, for the tests of the engine http: dav.py DIRECTORY [none|basic|digest]
[CERTIFICATE KEY]

The user is `joe` with the password `open-sesame`. Writes a line of JSON to standard output once it listens: its port. Ends with standard
input."""

import json
import logging
import os
import sys
import threading

from cheroot import wsgi
from cheroot.ssl.builtin import BuiltinSSLAdapter
from wsgidav.wsgidav_app import WsgiDAVApp

logging.disable(logging.CRITICAL)
directory, scheme = sys.argv[1], sys.argv[2]
users = {"*": True} if scheme == "none" else {"*": {"joe": {"password": "open-sesame"}}}
app = WsgiDAVApp(
    {
        "provider_mapping": {"/": directory},
        "simple_dc": {"user_mapping": users},
        "http_authenticator": {
            "accept_basic": scheme == "basic",
            "accept_digest": scheme == "digest",
            "default_to_digest": scheme == "digest",
        },
        "verbose": 0,
        "logging": {"enable": False},
    }
)
server = wsgi.Server(("127.0.0.1", 0), app, numthreads=8)
if len(sys.argv) > 3:
    server.ssl_adapter = BuiltinSSLAdapter(sys.argv[3], sys.argv[4])
server.error_log = lambda *_, **__: None
server.prepare()
print(json.dumps({"port": server.bind_addr[1]}), flush=True)
threading.Thread(target=server.serve, daemon=True).start()
sys.stdin.read()
# Threads that serve do not hold the end up.
os._exit(0)
