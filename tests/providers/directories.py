"""Directories: slapd, 389 Directory Server, ApacheDS, and Samba's Active Directory."""

import os
import pathlib
import shutil

from harness import PASSWORD, call, check_directory, check_session, expect, free_port, listens, portico, process, run, temporary_folder, wait_until

SERVICE_PASSWORD = "canary-Service-3"

PEOPLE = f"""
dn: ou=people,SUFFIX
objectClass: organizationalUnit
ou: people

dn: ou=groups,SUFFIX
objectClass: organizationalUnit
ou: groups

dn: uid=ada,ou=people,SUFFIX
objectClass: inetOrgPerson
uid: ada
cn: Ada
sn: Lovelace
mail: ada@example.com
userPassword: {PASSWORD}

dn: uid=bob,ou=people,SUFFIX
objectClass: inetOrgPerson
uid: bob
cn: Bob
sn: Example
userPassword: {PASSWORD}

dn: cn=Family,ou=groups,SUFFIX
objectClass: groupOfNames
cn: Family
member: uid=ada,ou=people,SUFFIX
"""


def certificates(folder, name="localhost"):
    """A certificate for this machine, and its authority (ca.pem)."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    run("openssl", "req", "-x509", *key, "-days", "2", "-keyout", folder / "ca.key", "-out", folder / "ca.pem",
        "-subj", "/CN=ca", "-addext", "keyUsage=critical,keyCertSign")
    run("openssl", "req", *key, "-keyout", folder / "server.key", "-out", folder / "server.csr", "-subj", f"/CN={name}")
    (folder / "extensions").write_text(f"subjectAltName=IP:127.0.0.1,DNS:{name}")
    run("openssl", "x509", "-req", "-days", "2", "-in", folder / "server.csr", "-CA", folder / "ca.pem", "-CAkey",
        folder / "ca.key", "-CAcreateserial", "-out", folder / "server.pem", "-extfile", folder / "extensions")


def slapd():
    """OpenLDAP, where ada is in 10,000 groups."""
    with temporary_folder("slapd") as folder:
        certificates(folder)
        # Where AppArmor ties slapd to the folders of the system, it does so by the program's path.
        shutil.copy("/usr/sbin/slapd", folder / "slapd")
        (folder / "db").mkdir()
        (folder / "slapd.conf").write_text(
            f"""include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
sizelimit unlimited
TLSCertificateFile {folder}/server.pem
TLSCertificateKeyFile {folder}/server.key
database mdb
maxsize 268435456
suffix dc=example
directory {folder}/db
index objectClass,uid,member eq
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact=cn=portico,dc=example read by * none
"""
        )
        entries = f"""dn: dc=example
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: cn=portico,dc=example
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: portico
userPassword: {SERVICE_PASSWORD}
""" + PEOPLE.replace("SUFFIX", "dc=example")
        for number in range(9_999):
            entries += f"""
dn: cn=group {number},ou=groups,dc=example
objectClass: groupOfNames
cn: group {number}
member: uid=ada,ou=people,dc=example
"""
        (folder / "entries.ldif").write_text(entries)
        run(folder / "slapd", "-T", "add", "-q", "-f", folder / "slapd.conf", "-l", folder / "entries.ldif")
        port = free_port()
        url = f"ldaps://127.0.0.1:{port}"
        command = [folder / "slapd", "-d", "none", "-f", folder / "slapd.conf", "-h", url]
        with process(command, folder / "slapd.log"):
            wait_until("slapd listens", lambda: listens(port))
            settings = {
                "PORTICO_LDAP_URL": url,
                "PORTICO_LDAP_CA_FILE": folder / "ca.pem",
                "PORTICO_LDAP_BIND_DN": "cn=portico,dc=example",
                "PORTICO_LDAP_BIND_PASSWORD": SERVICE_PASSWORD,
                "PORTICO_LDAP_USERS_BASE": "ou=people,dc=example",
                "PORTICO_LDAP_GROUPS_BASE": "ou=groups,dc=example",
                "PORTICO_LDAP_TIME_LIMIT": 30,
            }
            with portico(folder, settings) as portico_url:
                check_directory(portico_url)


def ds389():
    """389 Directory Server, as dscreate makes it, with the instance in a temporary folder."""
    with temporary_folder("389-ds") as folder:
        certificates(folder)
        port, name = free_port(), "portico"
        (folder / "instance.inf").write_text(
            f"""[general]
full_machine_name = localhost
strict_host_checking = False
systemd = False
start = False
selinux = False
[slapd]
instance_name = {name}
root_password = {SERVICE_PASSWORD}
port = {port}
secure_port = {free_port()}
self_sign_cert = True
user = root
group = root
[backend-userroot]
suffix = dc=example
create_suffix_entry = True
sample_entries = no
"""
        )
        # In mounts of its own: its configuration is in the folder, and it is not started by systemd.
        shutil.copytree("/etc/dirsrv", folder / "etc")
        defaults = pathlib.Path("/usr/share/dirsrv/inf/defaults.inf")
        text = defaults.read_text().replace("with_systemd = 1", "with_systemd = 0")
        for place in ["/run/lock/dirsrv", "/run/dirsrv", "/var/log/dirsrv", "/var/lib/dirsrv", "/dev/shm", "/run/slapd"]:
            (folder / place.lstrip("/")).mkdir(parents=True)
            text = text.replace(f"= {place}", f"= {folder}{place}")
        (folder / "defaults.inf").write_text(text)

        def in_mounts(*command):
            mounts = f"mount --bind {folder}/etc /etc/dirsrv && mount --bind {folder}/defaults.inf {defaults}"
            return ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc", "sh", "-c", f'{mounts} && exec "$@"', "sh", *command]

        run(*in_mounts("dscreate", "from-file", folder / "instance.inf"))
        server = ["/usr/sbin/ns-slapd", "-D", f"/etc/dirsrv/slapd-{name}", "-i", folder / "pid", "-d", "0"]
        with process(in_mounts(*server), folder / "ns-slapd.log"):
            wait_until("389-ds listens", lambda: listens(port))
            url = f"ldap://127.0.0.1:{port}"
            bind = ["-x", "-H", url, "-D", "cn=Directory Manager", "-w", SERVICE_PASSWORD]
            people = PEOPLE.replace("SUFFIX", "dc=example")
            run("ldapadd", *bind, input=people.lstrip())
            service = f"dn: cn=portico,dc=example\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: portico\nuserPassword: {SERVICE_PASSWORD}\n"
            run("ldapadd", *bind, input=service)
            allow = (
                "dn: dc=example\nchangetype: modify\nadd: aci\n"
                'aci: (targetattr != "userPassword")(version 3.0; acl "portico"; allow (read, search, compare) '
                'userdn = "ldap:///cn=portico,dc=example";)\n'
            )
            run("ldapmodify", *bind, input=allow)
            settings = {
                "PORTICO_LDAP_URL": url,
                "PORTICO_LDAP_BIND_DN": "cn=portico,dc=example",
                "PORTICO_LDAP_BIND_PASSWORD": SERVICE_PASSWORD,
                "PORTICO_LDAP_USERS_BASE": "ou=people,dc=example",
                "PORTICO_LDAP_GROUPS_BASE": "ou=groups,dc=example",
                "PORTICO_LDAP_ID_ATTRIBUTE": "nsUniqueId",
                "PORTICO_LDAP_TIME_LIMIT": 30,
            }
            with portico(folder, settings) as portico_url:
                check_directory(portico_url)


def apacheds():
    """ApacheDS, with an instance of its own in a temporary folder, in the partition that it comes with."""
    with temporary_folder("apacheds") as folder:
        for place in ["conf", "partitions", "log", "cache", "run"]:
            (folder / place).mkdir()
        port = free_port()
        # Every server that it starts gets a port of its own, on this machine alone.
        lines = pathlib.Path("/etc/apacheds/config.ldif").read_text().splitlines()
        for number, line in enumerate(lines):
            if line.startswith("ads-systemport:"):
                lines[number] = f"ads-systemport: {port if line.endswith(' 10389') else free_port()}"
            elif line.startswith("ads-transportaddress:"):
                lines[number] = "ads-transportaddress: 127.0.0.1"
        (folder / "conf/config.ldif").write_text("\n".join(lines) + "\n")
        controls = "org.apache.directory.api.ldap.codec.controls.search.pagedSearch.PagedResultsFactory"
        # Debian's package leaves out some of what it needs, and uses parts of Java that newer ones hide.
        missing = [f"/usr/share/java/{name}.jar" for name in ["caffeine", "commons-collections4", "commons-lang3", "commons-text"]]
        hidden = [f"--add-exports=java.base/sun.security.{name}=ALL-UNNAMED" for name in ["x509", "util"]]
        serve = ["java", *hidden, "-Djava.awt.headless=true", "-Xmx256m", f"-Dapacheds.controls={controls}",
                 f"-Dapacheds.log.dir={folder}/log", "-cp", ":".join(["/usr/share/apacheds/lib/*", *missing]),
                 "org.apache.directory.server.UberjarMain", folder]
        with process(serve, folder / "apacheds.log"):
            wait_until("ApacheDS listens", lambda: listens(port))
            url, suffix = f"ldap://127.0.0.1:{port}", "dc=example,dc=com"
            service = f"dn: cn=portico,{suffix}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: portico\nuserPassword: {SERVICE_PASSWORD}\n"
            bind = ["-x", "-H", url, "-D", "uid=admin,ou=system", "-w", "secret"]
            run("ldapadd", *bind, input=PEOPLE.replace("SUFFIX", suffix).lstrip() + "\n" + service)
            settings = {
                "PORTICO_LDAP_URL": url,
                "PORTICO_LDAP_BIND_DN": f"cn=portico,{suffix}",
                "PORTICO_LDAP_BIND_PASSWORD": SERVICE_PASSWORD,
                "PORTICO_LDAP_USERS_BASE": f"ou=people,{suffix}",
                "PORTICO_LDAP_GROUPS_BASE": f"ou=groups,{suffix}",
                "PORTICO_LDAP_TIME_LIMIT": 30,
            }
            with portico(folder, settings) as portico_url:
                check_directory(portico_url)


def samba():
    """Samba as the controller of a domain. It listens at the ports of Active Directory, so `unshare` gives it a network of
    its own, in which this check runs once more."""
    if os.environ.get("PORTICO_OWN_NETWORK") != "yes":
        script = f"ip link set lo up && exec python3 {pathlib.Path(__file__).parent / 'run.py'} samba"
        print(run("unshare", "-n", "sh", "-c", script, env={**os.environ, "PORTICO_OWN_NETWORK": "yes"}), end="")
        return
    with temporary_folder("samba") as folder:
        certificates(folder)
        (folder / "server.key").chmod(0o600)
        target = folder / "domain"
        run("samba-tool", "domain", "provision", "--realm=HOME.EXAMPLE", "--domain=HOME", "--server-role=dc",
            "--dns-backend=NONE", f"--adminpass={SERVICE_PASSWORD}", f"--targetdir={target}", "--host-name=dc1",
            "--host-ip=127.0.0.1", "--option=vfs objects=", "--option=bind interfaces only=yes",
            "--option=interfaces=lo")
        configuration = target / "etc/smb.conf"
        text = configuration.read_text().replace("[global]", f"""[global]
	tls enabled = yes
	tls keyfile = {folder}/server.key
	tls certfile = {folder}/server.pem
	tls cafile = {folder}/ca.pem
	bind interfaces only = yes
	interfaces = lo
	server services = ldap, cldap, kdc, drepl, winbindd, ntp_signd, kcc
""", 1)
        lines = [line for line in text.splitlines() if "vfs objects" not in line]
        configuration.write_text("\n".join(lines) + "\n")
        tool = ["samba-tool"]
        at = ["-H", target / "private/sam.ldb", "-s", configuration]
        run(*tool, "domain", "passwordsettings", "set", "--complexity=off", *at)
        for name in ["ada", "bob", "portico"]:
            password = SERVICE_PASSWORD if name == "portico" else PASSWORD
            run(*tool, "user", "create", name, password, *at)
        # A group in a group: the filter of the docs finds that too.
        for name in ["Parents", "Family"]:
            run(*tool, "group", "add", name, *at)
        run(*tool, "group", "addmembers", "Parents", "ada", *at)
        run(*tool, "group", "addmembers", "Family", "Parents", *at)
        # Dora is in it by her primary group alone, which is in no list of members.
        run(*tool, "user", "create", "dora", PASSWORD, *at)
        run(*tool, "group", "addmembers", "Family", "dora", *at)
        run(*tool, "user", "setprimarygroup", "dora", "Family", *at)
        command = ["samba", "-i", "--no-process-group", "-s", configuration, "-M", "single"]
        with process(command, folder / "samba.log"):
            wait_until("Samba listens", lambda: listens(636))
            base = "dc=home,dc=example"
            settings = {
                "PORTICO_LDAP_URL": "ldaps://127.0.0.1",
                "PORTICO_LDAP_CA_FILE": folder / "ca.pem",
                "PORTICO_LDAP_BIND_DN": f"cn=portico,cn=Users,{base}",
                "PORTICO_LDAP_BIND_PASSWORD": SERVICE_PASSWORD,
                "PORTICO_LDAP_USERS_BASE": f"cn=Users,{base}",
                "PORTICO_LDAP_USER_FILTER": "(&(objectClass=user)(sAMAccountName={username}))",
                "PORTICO_LDAP_ID_ATTRIBUTE": "objectGUID",
                "PORTICO_LDAP_NAME_ATTRIBUTE": "sAMAccountName",
                "PORTICO_LDAP_GROUPS_BASE": f"cn=Users,{base}",
                "PORTICO_LDAP_GROUP_FILTER": "(member:1.2.840.113556.1.4.1941:={dn})",
                "PORTICO_LDAP_PRIMARY_GROUP": "on",
                "PORTICO_LDAP_TIME_LIMIT": 30,
            }
            with portico(folder, settings) as portico_url:
                check_directory(portico_url)
                body = {"username": "dora", "password": PASSWORD, "provider": "ldap"}
                status, answer = call(portico_url, "/api/auth/sign-in", body)
                expect(status == 200, f"dora got {status}: {answer}")
                check_session(portico_url, answer["token"], "dora", ["app-create"])
