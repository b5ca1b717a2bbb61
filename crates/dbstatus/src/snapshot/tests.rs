use super::*;

const BOXED: &str = "\
+----------------------+--------+
| Variable_name        | Value  |
+----------------------+--------+
| Innodb_pages_read    | 884523 |
| init_connect         |        |
+----------------------+--------+
2 rows in set (0.001 sec)
";

#[test]
fn names_and_values_are_read_from_every_form_of_the_clients() {
    for text in [
        BOXED,
        "Variable_name\tValue\nInnodb_pages_read\t884523\ninit_connect\t\n",
        "Innodb_pages_read\t884523\r\ninit_connect\t\r\n",
    ] {
        let snapshot = Snapshot::of(text);
        assert_eq!(snapshot.value("innodb_PAGES_read"), Some("884523"), "{text}");
        assert_eq!((snapshot.value("init_connect"), snapshot.value("Variable_name")), (Some(""), None));
    }
    assert_eq!(Snapshot::of("no table\n\n(0 rows)\n"), Snapshot::default());
}

#[test]
fn settings_have_units_and_tables_have_rows() {
    let aligned = "     name      | setting | unit \n---------------+---------+------\n shared_buffers | 16384 | 8kB\n(1 row)\n\n \
                   datid | datname | blks_read \n-------+---------+-----------\n 0 |  | 3\n 5 | a,b | 4\n(2 rows)\n";
    let csv = "name,setting,unit\nshared_buffers,16384,8kB\ndatid,datname,blks_read\n0,,3\n5,\"a,b\",4\n";
    let expanded = "-[ RECORD 1 ]---\nname | shared_buffers\nsetting | 16384\nunit | 8kB\n\n-[ RECORD 1 ]--\ndatid | 0\ndatname | \n\
                    blks_read | 3\n-[ RECORD 2 ]--\ndatid | 5\ndatname | a,b\nblks_read | 4\n";
    for text in [aligned, csv, expanded] {
        let snapshot = Snapshot::of(text);
        assert_eq!(snapshot.value("shared_buffers"), Some("16384"), "{text}");
        assert_eq!(snapshot.unit("shared_buffers"), Some("8kB"), "{text}");
        let rows: Vec<_> = snapshot
            .rows("datid")
            .iter()
            .map(|row| (row["datname"].as_str(), row["blks_read"].as_str()))
            .collect();
        assert_eq!(rows, [("", "3"), ("a,b", "4")], "{text}");
    }
}

#[test]
fn cells_of_csv_may_have_quotes_and_commas() {
    assert_eq!(csv_cells(r#"a,"b ""c"", d",,e"#), ["a", "b \"c\", d", "", "e"]);
    assert_eq!(csv_cells("\"\",\"\"\"\""), ["", "\""]);
}

#[test]
fn processes_have_their_cpu_time_and_that_of_their_ended_children() {
    let line = |pid, utime, stime, cutime| {
        format!("{pid} (postgres: a) b) S 1 2 3 0 -1 4194560 5 6 7 8 {utime} {stime} {cutime} 0 20 0\n")
    };
    let text = format!("a\tb\n{}{}", line(17, 100, 50, 300), line(18, 25, 25, 0));
    assert_eq!(Snapshot::of(&text).cpu_s(), Some(5.0));
    assert_eq!(Snapshot::of("a\tb\n17 (x) y\n").cpu_s(), None);
}

#[test]
fn tables_that_a_server_sent_are_as_those_that_a_client_prints() {
    let mut asked = Snapshot::default();
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<String>>();
    asked.add_table(&texts(&["name", "setting", "unit"]), vec![texts(&["shared_buffers", "16384", "8kB"])]);
    asked.add_table(&texts(&["datid", "datname", "blks_read"]), vec![texts(&["5", "a,b", "4"])]);
    asked.add_processes("17 (x) S 1 2 3 0 -1 4 5 6 7 8 100 50 0 0 20 0\n");
    let printed = "name,setting,unit\nshared_buffers,16384,8kB\ndatid,datname,blks_read\n5,\"a,b\",4\n";
    assert_eq!(asked, Snapshot::of(&format!("{printed}17 (x) S 1 2 3 0 -1 4 5 6 7 8 100 50 0 0 20 0\n")));
}
