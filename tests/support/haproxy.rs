//! HAProxy in front of three hosts, with the configuration that operators start from.

use std::net::TcpStream;
use std::process::Stdio;

use crate::background::{free_port, starts, system_program};
use crate::process::Process;
use crate::{Anonymous, repository};

/// It takes the addresses from the environment.
const CONFIGURATION: &str = "examples/scale/haproxy.cfg";

/// HAProxy, which passes requests on to the hosts that are ready. Dropping it ends it.
pub struct Haproxy {
    _process: Process,
    address: String,
}

impl Haproxy {
    /// Starts it in front of the hosts at these addresses, and waits until it takes connections.
    #[track_caller]
    pub fn start(hosts: &[String; 3]) -> Self {
        for _ in 0..5 {
            let address = format!("127.0.0.1:{}", free_port());
            let mut command = system_program("haproxy");
            command.arg("-db").arg("-f").arg(repository().join(CONFIGURATION));
            command.env("LISTEN", &address).stdin(Stdio::null());
            for (number, host) in hosts.iter().enumerate() {
                command.env(format!("PORTICO_{}", number + 1), host);
            }
            let mut process = Process::spawn(&mut command, None);
            // If another program has taken the port meanwhile, it ends.
            if starts(&mut process, || TcpStream::connect(&address).is_ok()) {
                return Self {
                    _process: process,
                    address,
                };
            }
        }
        panic!("HAProxy does not start");
    }

    /// A client without credentials, whose requests go through it.
    pub fn anonymous(&self) -> Anonymous {
        Anonymous::at(&self.address)
    }
}
