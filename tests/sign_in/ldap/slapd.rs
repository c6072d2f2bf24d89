//! A directory of the test's own: OpenLDAP's slapd as a child process, with its configuration, its
//! database and its certificates in a temporary folder.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use portico_sign_in::ldap::LdapSettings;
use portico_tests::{Builder, free_port, wait_for_text, wait_until};
use tempfile::TempDir;

/// The password with which the service searches. It must never come out of the service.
pub const SERVICE_PASSWORD: &str = "canary-service-password";
/// The password of all users of the directory.
pub const PASSWORD: &str = "canary-directory-password";

/// The filter of these tests: people go by their name or by their mail.
pub const USER_FILTER: &str = "(&(objectClass=inetOrgPerson)(|(uid={username})(mail={username})))";

const ENTRIES: &str = "
dn: dc=example
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: ou=people,dc=example
objectClass: organizationalUnit
ou: people

dn: ou=others,ou=people,dc=example
objectClass: organizationalUnit
ou: others

dn: ou=groups,dc=example
objectClass: organizationalUnit
ou: groups

dn: cn=portico,dc=example
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: portico
userPassword: SERVICE

dn: uid=Ada,ou=people,dc=example
objectClass: inetOrgPerson
uid: Ada
cn: Ada
sn: Lovelace
mail: ada@example.com
userPassword: PASSWORD

dn: cn=Bob (home)\\, *,ou=people,dc=example
objectClass: inetOrgPerson
uid: bob
cn: Bob (home), *
sn: Example
userPassword: PASSWORD

dn: uid=twin,ou=people,dc=example
objectClass: inetOrgPerson
uid: twin
cn: Twin
sn: One
userPassword: PASSWORD

dn: uid=twin,ou=others,ou=people,dc=example
objectClass: inetOrgPerson
uid: twin
cn: Twin
sn: Two
userPassword: PASSWORD

dn: cn=Nameless,ou=people,dc=example
objectClass: inetOrgPerson
cn: Nameless
sn: Nameless
mail: nameless@example.com
userPassword: PASSWORD

dn: uid=locked,ou=people,dc=example
objectClass: inetOrgPerson
uid: locked
cn: Locked
sn: Without a password

dn: uid=root,ou=people,dc=example
objectClass: inetOrgPerson
uid: root
cn: Root
sn: Another
mail: root@example.com
userPassword: PASSWORD

dn: cn=editors,ou=groups,dc=example
objectClass: groupOfNames
cn: editors
member: uid=ada,ou=people,dc=example
member: cn=bob (home)\\2C \\2A,ou=people,dc=example
";

/// What a policy for passwords adds to the configuration of the database.
const POLICY: &str = "overlay ppolicy
ppolicy_default cn=policy,dc=example
ppolicy_use_lockout";

/// What it adds to the entries.
const POLICY_ENTRIES: &str = "
dn: cn=policy,dc=example
objectClass: organizationalRole
objectClass: pwdPolicy
cn: policy
pwdAttribute: userPassword
pwdMustChange: TRUE
pwdLockout: TRUE
pwdMaxAge: 86400

dn: cn=gracious,dc=example
objectClass: organizationalRole
objectClass: pwdPolicy
cn: gracious
pwdAttribute: userPassword
pwdMaxAge: 86400
pwdGraceAuthNLimit: 5

dn: uid=reset,ou=people,dc=example
objectClass: inetOrgPerson
uid: reset
cn: Reset
sn: By an administrator
userPassword: PASSWORD
pwdReset: TRUE

dn: uid=expired,ou=people,dc=example
objectClass: inetOrgPerson
uid: expired
cn: Expired
sn: Years ago
userPassword: PASSWORD
pwdChangedTime: 20200101000000Z

dn: uid=grace,ou=people,dc=example
objectClass: inetOrgPerson
uid: grace
cn: Grace
sn: Expired
userPassword: PASSWORD
pwdChangedTime: 20200101000000Z
pwdPolicySubentry: cn=gracious,dc=example

dn: uid=locked-out,ou=people,dc=example
objectClass: inetOrgPerson
uid: locked-out
cn: Locked
sn: For good
userPassword: PASSWORD
pwdAccountLockedTime: 000001010000Z
";

/// A running directory. Dropping it ends it.
pub struct Slapd {
    folder: TempDir,
    ports: [u16; 2],
    process: Option<Process>,
}

struct Process {
    child: Child,
    log: Arc<Mutex<String>>,
}

impl Slapd {
    #[track_caller]
    pub fn start() -> Self {
        Self::start_with("", ENTRIES)
    }

    /// With accounts that a policy for passwords keeps out.
    #[track_caller]
    pub fn start_with_policy() -> Self {
        Self::start_with(POLICY, &[ENTRIES, POLICY_ENTRIES].concat())
    }

    #[track_caller]
    fn start_with(overlay: &str, entries: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let slapd = Self {
            // slapd takes no port 0, and is started again at the same ones.
            ports: [(); 2].map(|()| free_port()),
            process: None,
            folder,
        };
        slapd.write_configuration(overlay);
        certificates(slapd.folder.path());
        slapd.fill(entries);
        slapd.started()
    }

    fn started(mut self) -> Self {
        self.start_again();
        self
    }

    /// Starts it with what it had, at the same address.
    pub fn start_again(&mut self) {
        let [plain, tls] = self.ports;
        let mut command = Command::new(self.file("slapd"));
        command
            .args(["-d", "stats", "-f"])
            .arg(self.file("slapd.conf"))
            .args(["-h", &format!("ldap://127.0.0.1:{plain} ldaps://127.0.0.1:{tls}")]);
        self.process = Some(Process::start(command, self.ports));
    }

    /// Ends it; its data stays.
    pub fn stop(&mut self) {
        self.process = None;
    }

    /// `ldap://…`: for StartTLS.
    pub fn plain_url(&self) -> String {
        format!("ldap://127.0.0.1:{}", self.ports[0])
    }

    /// `ldaps://…`.
    pub fn tls_url(&self) -> String {
        format!("ldaps://127.0.0.1:{}", self.ports[1])
    }

    /// A file of its folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What it did so far: a line for each connection, bind and search.
    pub fn log(&self) -> String {
        let process = self.process.as_ref().expect("it runs");
        process.log.lock().expect("the lock").clone()
    }

    /// Waits until the log contains this text this many times, and gives the log.
    #[track_caller]
    pub fn wait_for_log(&self, text: &str, times: usize) -> String {
        wait_for_text(|| self.log(), text, times)
    }

    /// The service, with this directory over `ldaps://`.
    pub fn service(&self) -> Builder {
        self.service_at(&self.tls_url())
    }

    /// The service, with this directory.
    pub fn service_at(&self, url: &str) -> Builder {
        let text = |path: PathBuf| path.to_str().expect("a text").to_owned();
        Builder::default()
            .environment("PORTICO_LDAP_URL", url)
            .environment("PORTICO_LDAP_CA_FILE", text(self.file("ca.pem")))
            .environment("PORTICO_LDAP_BIND_DN", "cn=portico,dc=example")
            .environment("PORTICO_LDAP_BIND_PASSWORD", SERVICE_PASSWORD)
            .environment("PORTICO_LDAP_USERS_BASE", "ou=people,dc=example")
            .environment("PORTICO_LDAP_USER_FILTER", USER_FILTER)
            .environment("PORTICO_LDAP_GROUPS_BASE", "ou=groups,dc=example")
            // The first searches of a busy machine.
            .environment("PORTICO_LDAP_TIME_LIMIT", "30")
    }

    /// The same for a service in the process of the test.
    pub fn settings(&self) -> LdapSettings {
        LdapSettings {
            url: self.tls_url(),
            ca_file: Some(self.file("ca.pem")),
            bind_dn: Some("cn=portico,dc=example".into()),
            bind_password: Some(SERVICE_PASSWORD.into()),
            users_base: "ou=people,dc=example".into(),
            user_filter: USER_FILTER.into(),
            time_limit: Duration::from_secs(30),
            ..LdapSettings::default()
        }
    }

    /// Changes entries, as LDIF says.
    #[track_caller]
    pub fn change(&self, ldif: &str) {
        let mut command = Command::new("ldapmodify");
        let as_root = ["-x", "-D", "cn=root,dc=example", "-w", "root", "-H"];
        command.args(as_root).arg(self.plain_url());
        run(&mut command, &[ldif.trim_start(), "\n"].concat());
    }

    /// Lets a search return at most this many entries, a number or `unlimited`. Starts it again.
    pub fn limit_entries(&mut self, most: &str) {
        self.configure(|text| format!("sizelimit {most}\n{text}"));
    }

    /// Lets the service search below this entry without seeing it. Starts it again.
    pub fn hide(&mut self, dn: &str) {
        let rule = format!("access to dn.base=\"{dn}\" by dn.exact=cn=portico,dc=example search by * none");
        self.configure(|text| text.replace("access to * ", &format!("{rule}\naccess to * ")));
    }

    fn configure(&mut self, change: impl FnOnce(String) -> String) {
        let file = self.file("slapd.conf");
        let text = fs::read_to_string(&file).expect("a text");
        fs::write(&file, change(text)).expect("a file");
        self.stop();
        self.start_again();
    }

    fn write_configuration(&self, overlay: &str) {
        // Where AppArmor ties slapd to the folders of the system, it does so by the program's path.
        let program = ["/usr/sbin/slapd", "/usr/local/libexec/slapd"]
            .into_iter()
            .find(|path| Path::new(path).exists());
        let program = program.expect("slapd is not installed: make test-programs");
        fs::copy(program, self.file("slapd")).expect("copy slapd");
        fs::create_dir(self.file("db")).expect("a folder");
        let folder = self.folder.path().display();
        let configuration = format!(
            "include /etc/ldap/schema/core.schema
             include /etc/ldap/schema/cosine.schema
             include /etc/ldap/schema/inetorgperson.schema
             attributetype ( 1.2.840.113556.1.4.146 NAME 'objectSid' EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 SINGLE-VALUE )
             attributetype ( 1.2.840.113556.1.4.98 NAME 'primaryGroupID' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
             objectclass ( 1.2.840.113556.1.5.6 NAME 'securityPrincipal' SUP top AUXILIARY MAY ( objectSid $ primaryGroupID ) )
             modulepath /usr/lib/ldap
             moduleload back_mdb
             moduleload ppolicy
             TLSCertificateFile {folder}/server.pem
             TLSCertificateKeyFile {folder}/server.key
             database mdb
             suffix dc=example
             directory {folder}/db
             rootdn cn=root,dc=example
             rootpw root
             {overlay}
             access to attrs=userPassword by anonymous auth by * none
             access to * by dn.exact=cn=portico,dc=example read by * none
            "
        );
        // A line that begins with a space continues the previous one.
        let lines: Vec<_> = configuration.lines().map(str::trim_start).collect();
        fs::write(self.file("slapd.conf"), lines.join("\n")).expect("a file");
    }

    fn fill(&self, entries: &str) {
        let entries = entries
            .replace("userPassword: PASSWORD", &format!("userPassword: {PASSWORD}"))
            .replace(
                "userPassword: SERVICE",
                &format!("userPassword: {SERVICE_PASSWORD}"),
            );
        let mut command = Command::new(self.file("slapd"));
        command.args(["-T", "add", "-f"]).arg(self.file("slapd.conf"));
        run(&mut command, entries.trim_start());
    }
}

impl Process {
    #[track_caller]
    fn start(mut command: Command, ports: [u16; 2]) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start slapd");
        let stderr = BufReader::new(child.stderr.take().expect("its standard error"));
        let log = Arc::new(Mutex::new(String::new()));
        let written = log.clone();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let mut log = written.lock().expect("the lock");
                log.push_str(&line);
                log.push('\n');
            }
        });
        let process = Self { child, log };
        wait_until("listening", || {
            ports
                .iter()
                .all(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok())
        });
        process
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- what slapd wrote\n{}---", self.log.lock().expect("the lock"));
        }
    }
}

/// An authority and what it vouches for: a server at 127.0.0.1. And another authority.
fn certificates(folder: &Path) {
    let openssl = |arguments: &str| {
        let mut command = Command::new("openssl");
        command.args(arguments.split_whitespace()).current_dir(folder);
        run(&mut command, "");
    };
    let new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for name in ["ca", "other-ca"] {
        openssl(&format!(
            "req -x509 {new_key} -days 2 -keyout {name}.key -out {name}.pem -subj /CN={name} \
             -addext keyUsage=critical,keyCertSign"
        ));
    }
    openssl(&format!(
        "req {new_key} -keyout server.key -out server.csr -subj /CN=server"
    ));
    fs::write(folder.join("extensions"), "subjectAltName=IP:127.0.0.1").expect("a file");
    openssl(
        "x509 -req -days 2 -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem \
         -extfile extensions",
    );
}

#[track_caller]
fn run(command: &mut Command, input: &str) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; make test-programs installs it"));
    let mut stdin = child.stdin.take().expect("its standard input");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("wait for it");
    assert!(
        output.status.success(),
        "{command:?}:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
