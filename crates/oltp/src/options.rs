//! The options of the database: `--db-…`, `--mysql-…` and `--pgsql-…`.

use ferrio_sql::{Address, Driver, Login};

/// The options of the database of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseOptions {
    /// `--db-driver`
    pub driver: Driver,
    /// `--db-ps-mode=auto`: statements are prepared.
    pub prepares: bool,
    /// Where the servers listen, at least one: connections go to them in turn.
    pub addresses: Vec<Address>,
    /// User.
    pub user: String,
    /// Password; may be empty.
    pub password: String,
    /// Database.
    pub database: String,
    /// `--mysql-ssl`: connections are encrypted, or refused.
    pub tls: bool,
    /// `--mysql-compression`
    pub compression: bool,
    /// Errors that begin an event again.
    pub ignored: IgnoredErrors,
    /// `--mysql-dry-run`: nothing is sent, and everything succeeds.
    pub dry_run: bool,
    /// `--db-debug`
    pub debug: bool,
}

impl DatabaseOptions {
    /// The addresses of all hosts and ports: the ports of the first host first.
    #[must_use]
    pub fn addresses_of(driver: Driver, hosts: &[&str], ports: &[u16]) -> Vec<Address> {
        let of_host = |host: &&str| {
            let host = (*host).to_owned();
            ports.iter().map(move |&port| driver.address(&host, port, None))
        };
        hosts.iter().flat_map(of_host).collect()
    }

    /// What connection number `index` is made with.
    #[must_use]
    pub fn login(&self, index: usize) -> Login {
        Login {
            address: self.addresses[index % self.addresses.len()].clone(),
            user: self.user.clone(),
            password: self.password.clone(),
            database: self.database.clone(),
            tls: self.tls,
            compression: self.compression,
        }
    }
}

/// Errors of a server that do not end a run, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IgnoredErrors {
    /// All of them.
    All,
    /// These.
    Numbers(Vec<u32>),
}

impl IgnoredErrors {
    /// True if an error with this number is one of them.
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        match self {
            IgnoredErrors::All => true,
            IgnoredErrors::Numbers(numbers) => numbers.contains(&number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_go_to_each_port_of_each_host_in_turn() {
        let addresses = DatabaseOptions::addresses_of(Driver::Mysql, &["a", "b"], &[1, 2]);
        let options = DatabaseOptions { addresses, ..crate::connection::testing::options() };
        let place = |index| match options.login(index).address {
            Address::Tcp { host, port } => format!("{host}{port}"),
            Address::Socket(_) => unreachable!(),
        };
        assert_eq!([0, 1, 2, 3, 4].map(place), ["a1", "a2", "b1", "b2", "a1"]);
    }

    #[test]
    fn all_errors_are_more_than_some() {
        assert!(IgnoredErrors::All.contains(1) && IgnoredErrors::Numbers(vec![1213]).contains(1213));
        assert!(!IgnoredErrors::Numbers(vec![1213]).contains(1205));
    }
}
