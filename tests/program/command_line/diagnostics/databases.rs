//! Mistakes in jobs that model databases.

use super::of;

#[test]
fn an_option_that_the_model_decides() {
    insta::assert_snapshot!(of("[a]\nworkload=innodb\nsize=1m\nrw=randread\nruntime=1\n"));
}

#[test]
fn an_option_of_databases_without_one() {
    insta::assert_snapshot!(of("[a]\nsize=1m\npage_reads=3\n"));
}

#[test]
fn an_option_of_another_database() {
    insta::assert_snapshot!(of("[a]\nworkload=etcd\nsize=1m\ntable_size=1m\nruntime=1\n"));
}

#[test]
fn an_engine_without_shared_files() {
    insta::assert_snapshot!(of("[a]\nworkload=etcd\nsize=1m\nioengine=mmap\nruntime=1\n"));
}

#[test]
fn a_database_without_end() {
    insta::assert_snapshot!(of("[a]\nworkload=postgres\nsize=1m\n"));
}

#[test]
fn a_contradiction() {
    insta::assert_snapshot!(of(
        "[a]\nworkload=innodb\nsize=1m\nlog_size=1m\nwrite_back_batch=256\nruntime=1\n"
    ));
}

#[test]
fn two_files_with_one_name() {
    insta::assert_snapshot!(of("[a]\nworkload=innodb\nsize=1m\nfilename=x\nlog_filename=x\nruntime=1\n"));
}
