//! What a database server sends: a byte selects the database and what the client asks for, the rest is the server's part of the login and of the
//! answers.

#![cfg_attr(feature = "fuzzer", no_main)]

mod target;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::{fs, process, thread};

use ferrio_sql::{Address, Driver, Keep, Login, SqlError, Value};

/// A server that answers each connection with the next text.
struct Server {
    path: PathBuf,
    answers: Sender<Vec<u8>>,
}

static SERVER: OnceLock<Server> = OnceLock::new();

fn server() -> &'static Server {
    SERVER.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("ferrio-fuzz-{}.socket", process::id()));
        let listener = UnixListener::bind(&path).expect("a socket in the directory for temporary files");
        let (answers, next) = channel::<Vec<u8>>();
        let socket = path.clone();
        thread::spawn(move || {
            for answer in next {
                let Ok((mut client, _)) = listener.accept() else { break };
                // The client may leave before the end.
                let _ = client.write_all(&answer);
                let _ = client.shutdown(Shutdown::Write);
                let _ = client.read_to_end(&mut Vec::new());
            }
            let _ = fs::remove_file(socket);
        });
        Server { path, answers }
    })
}

/// Statements until one fails.
fn talk(driver: Driver, login: &Login, keep: Keep) -> Result<(), SqlError> {
    let mut connection = driver.connect(login)?;
    connection.query("SELECT 1", keep)?;
    let statement = connection.prepare("SELECT ?")?;
    for _ in 0..3 {
        connection.execute(statement, &[Value::Int(1)], keep)?;
    }
    connection.close(statement)
}

target::target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let server = server();
    if server.answers.send(bytes.to_vec()).is_err() {
        panic!("the server is gone");
    }
    let login = Login {
        address: Address::Socket(server.path.clone()),
        user: "sbtest".to_owned(),
        password: "secret".to_owned(),
        database: "sbtest".to_owned(),
        tls: false,
        compression: choice & 4 != 0,
    };
    let driver = if choice & 1 == 0 { Driver::Mysql } else { Driver::Pgsql };
    let keep = if choice & 2 == 0 { Keep::Rows } else { Keep::Count };
    // The server may say nothing about its error.
    let _ = talk(driver, &login, keep);
});
