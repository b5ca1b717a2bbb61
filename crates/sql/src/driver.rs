//! The databases that there is a driver for. Another one is a file with its connection, and its arms here.

use std::path::{Path, PathBuf};

use crate::mysql::Mysql;
use crate::pgsql::Pgsql;
use crate::{Address, Connection, Login, SqlError};

/// Where a MySQL or MariaDB server listens if only `localhost` is known, as distributions configure it.
const MYSQL_SOCKET: &str = "/run/mysqld/mysqld.sock";

/// A kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Driver {
    /// MySQL and MariaDB.
    Mysql,
    /// PostgreSQL.
    Pgsql,
}

impl Driver {
    /// All of them.
    pub const ALL: [Driver; 2] = [Driver::Mysql, Driver::Pgsql];

    /// The driver of that name.
    pub fn of(name: &str) -> Option<Driver> {
        Driver::ALL.into_iter().find(|driver| driver.name() == name)
    }

    /// Its name as sysbench writes it.
    pub fn name(self) -> &'static str {
        match self {
            Driver::Mysql => "mysql",
            Driver::Pgsql => "pgsql",
        }
    }

    /// Where the server is, as the database's own clients understand a host: MySQL's take the socket for `localhost`, and PostgreSQL's take a
    /// host that begins with `/` for the directory of the socket. `socket` wins over both.
    pub fn address(self, host: &str, port: u16, socket: Option<&Path>) -> Address {
        match (self, socket) {
            (_, Some(socket)) => Address::Socket(socket.to_owned()),
            (Driver::Mysql, None) if host == "localhost" => Address::Socket(PathBuf::from(MYSQL_SOCKET)),
            (Driver::Pgsql, None) if host.starts_with('/') => {
                Address::Socket(Path::new(host).join(format!(".s.PGSQL.{port}")))
            }
            _ => Address::Tcp { host: host.to_owned(), port },
        }
    }

    /// Connects to a server and logs in.
    ///
    /// # Errors
    /// There is no server, it refuses the login, or it asks for what this client does not have.
    pub fn connect(self, login: &Login) -> Result<Box<dyn Connection + Send>, SqlError> {
        Ok(match self {
            Driver::Mysql => Box::new(Mysql::connect(login)?),
            Driver::Pgsql => Box::new(Pgsql::connect(login)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_mean_what_they_mean_to_the_clients_of_each_database() {
        let tcp = |host: &str, port| Address::Tcp { host: host.to_owned(), port };
        assert_eq!(Driver::Mysql.address("127.0.0.1", 3306, None), tcp("127.0.0.1", 3306));
        assert_eq!(Driver::Mysql.address("localhost", 3306, None), Address::Socket(MYSQL_SOCKET.into()));
        assert_eq!(Driver::Pgsql.address("localhost", 5432, None), tcp("localhost", 5432));
        assert_eq!(
            Driver::Pgsql.address("/run/pg", 5433, None),
            Address::Socket("/run/pg/.s.PGSQL.5433".into())
        );
        assert_eq!(
            Driver::Mysql.address("db1", 3306, Some(Path::new("/tmp/s"))),
            Address::Socket("/tmp/s".into())
        );
    }

    #[test]
    fn drivers_are_found_by_the_names_of_sysbench() {
        assert_eq!(Driver::of("mysql"), Some(Driver::Mysql));
        assert_eq!(Driver::of("pgsql"), Some(Driver::Pgsql));
        assert_eq!(Driver::of("oracle"), None);
    }
}
