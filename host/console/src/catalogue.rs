//! Services that many people run at home: name, the name of their icon in the collections, and the address at which their
//! documentation says that they answer. Where that depends on how a service is installed, there is no address.

/// A service.
#[derive(Debug)]
pub(crate) struct Service {
    pub name: &'static str,
    /// The name of its icon, which also identifies it.
    pub slug: &'static str,
    /// Its usual address, with `{}` for the host; empty if there is none.
    address: &'static str,
}

const fn service(name: &'static str, slug: &'static str, address: &'static str) -> Service {
    Service { name, slug, address }
}

/// The services, by what they are for and then by name.
pub(crate) static GROUPS: [(Kind, &[Service]); 8] = [
    (
        Kind::Media,
        &[
            service("Audiobookshelf", "audiobookshelf", "http://{}:13378"),
            service("Emby", "emby", "http://{}:8096"),
            service("Immich", "immich", "http://{}:2283"),
            service("Jellyfin", "jellyfin", "http://{}:8096"),
            service("Kavita", "kavita", "http://{}:5000"),
            service("Komga", "komga", "http://{}:25600"),
            service("Navidrome", "navidrome", "http://{}:4533"),
            service("PhotoPrism", "photoprism", "http://{}:2342"),
            service("Plex", "plex", "http://{}:32400/web"),
            service("Tautulli", "tautulli", "http://{}:8181"),
        ],
    ),
    (
        Kind::Downloads,
        &[
            service("Bazarr", "bazarr", "http://{}:6767"),
            service("Jellyseerr", "jellyseerr", "http://{}:5055"),
            service("Lidarr", "lidarr", "http://{}:8686"),
            service("Prowlarr", "prowlarr", "http://{}:9696"),
            service("qBittorrent", "qbittorrent", "http://{}:8080"),
            service("Radarr", "radarr", "http://{}:7878"),
            service("SABnzbd", "sabnzbd", "http://{}:8080"),
            service("Sonarr", "sonarr", "http://{}:8989"),
            service("Transmission", "transmission", "http://{}:9091"),
        ],
    ),
    (
        Kind::Files,
        &[
            service("Calibre-Web", "calibre-web", "http://{}:8083"),
            service("Duplicati", "duplicati", "http://{}:8200"),
            service("Nextcloud", "nextcloud", ""),
            service("Paperless-ngx", "paperless-ngx", "http://{}:8000"),
            service("Seafile", "seafile", ""),
            service("Stirling PDF", "stirling-pdf", "http://{}:8080"),
            service("Syncthing", "syncthing", "http://{}:8384"),
        ],
    ),
    (
        Kind::Household,
        &[
            service("Actual Budget", "actual-budget", "http://{}:5006"),
            service("Firefly III", "firefly-iii", ""),
            service("FreshRSS", "freshrss", ""),
            service("Grocy", "grocy", ""),
            service("Karakeep", "karakeep", "http://{}:3000"),
            service("Linkwarden", "linkwarden", "http://{}:3000"),
            service("Mealie", "mealie", ""),
            service("Memos", "memos", "http://{}:5230"),
            service("Miniflux", "miniflux", "http://{}:8080"),
            service("Tandoor", "tandoor-recipes", ""),
            service("Vaultwarden", "vaultwarden", ""),
            service("Vikunja", "vikunja", "http://{}:3456"),
        ],
    ),
    (
        Kind::Home,
        &[
            service("ESPHome", "esphome", "http://{}:6052"),
            service("Frigate", "frigate", ""),
            service("Home Assistant", "home-assistant", "http://{}:8123"),
            service("Homebridge", "homebridge", "http://{}:8581"),
            service("Node-RED", "node-red", "http://{}:1880"),
            service("openHAB", "openhab", "http://{}:8080"),
            service("Zigbee2MQTT", "zigbee2mqtt", "http://{}:8080"),
        ],
    ),
    (
        Kind::Network,
        &[
            service("AdGuard Home", "adguard-home", ""),
            service("Nginx Proxy Manager", "nginx-proxy-manager", "http://{}:81"),
            service("OPNsense", "opnsense", ""),
            service("Pi-hole", "pi-hole", ""),
            service("Speedtest Tracker", "speedtest-tracker", ""),
            service("Traefik", "traefik", "http://{}:8080/dashboard/"),
            service("UniFi", "unifi", ""),
        ],
    ),
    (
        Kind::Servers,
        &[
            service("Cockpit", "cockpit", "https://{}:9090"),
            service("Dockge", "dockge", "http://{}:5001"),
            service("OpenMediaVault", "openmediavault", ""),
            service("Portainer", "portainer", "https://{}:9443"),
            service("Proxmox VE", "proxmox", "https://{}:8006"),
            service("Synology DSM", "synology-dsm", "https://{}:5001"),
            service("TrueNAS", "truenas", ""),
            service("Unraid", "unraid", ""),
        ],
    ),
    (
        Kind::Tools,
        &[
            service("Authentik", "authentik", "http://{}:9000"),
            service("Forgejo", "forgejo", "http://{}:3000"),
            service("Gitea", "gitea", "http://{}:3000"),
            service("Grafana", "grafana", "http://{}:3000"),
            service("n8n", "n8n", "http://{}:5678"),
            service("Netdata", "netdata", "http://{}:19999"),
            service("Open WebUI", "open-webui", ""),
            service("Prometheus", "prometheus", "http://{}:9090"),
            service("Uptime Kuma", "uptime-kuma", "http://{}:3001"),
        ],
    ),
];

/// What services are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Media,
    Downloads,
    Files,
    Household,
    Home,
    Network,
    Servers,
    Tools,
}

impl Service {
    /// Its address on a host, if it has a usual one.
    pub fn address_on(&self, host: &str) -> Option<String> {
        (!self.address.is_empty() && !host.is_empty()).then(|| self.address.replace("{}", host))
    }

    /// Its usual port.
    fn port(&self) -> Option<&'static str> {
        port_of(self.address)
    }
}

/// All services.
pub(crate) fn services() -> impl Iterator<Item = &'static Service> {
    GROUPS.iter().flat_map(|(_, services)| *services)
}

/// The service of this slug.
pub(crate) fn service_of(slug: &str) -> Option<&'static Service> {
    services().find(|service| service.slug == slug)
}

/// The only service whose usual port an address has.
pub(crate) fn at_port_of(href: &str) -> Option<&'static Service> {
    let port = port_of(href)?;
    let mut found = services().filter(|service| service.port() == Some(port));
    found.next().filter(|_| found.next().is_none())
}

/// The port that an address names.
fn port_of(href: &str) -> Option<&str> {
    let (_, rest) = href.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (_, port) = authority.rsplit_once(':')?;
    (!port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(port)
}

/// The host in what people type for one: a name or an address, without scheme, port and path.
pub(crate) fn host_of(typed: &str) -> Option<String> {
    let link = match typed.split_once("://") {
        Some(("http" | "https", rest)) => rest,
        Some(_) => return None,
        None => typed,
    };
    let authority = link.trim().split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.rsplit_once(':') {
        _ if authority.ends_with(']') => authority,
        Some((host, _)) => host,
        None => authority,
    };
    // What it makes of a host is a link.
    crate::links::complete(host)?;
    Some(host.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_about_sixty_services_and_each_is_there_once() {
        let all: Vec<_> = services().collect();
        assert!((60..80).contains(&all.len()), "{}", all.len());
        let slugs: BTreeSet<_> = all.iter().map(|service| service.slug).collect();
        let names: BTreeSet<_> = all.iter().map(|service| service.name).collect();
        assert_eq!((slugs.len(), names.len()), (all.len(), all.len()));
        for service in all {
            let is_slug =
                |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
            assert!(service.slug.chars().all(is_slug), "{service:?}");
            assert!(
                service.address.is_empty() || service.port().is_some(),
                "{service:?}"
            );
        }
        for (_, services) in GROUPS {
            assert!(services.is_sorted_by_key(|service| service.name.to_lowercase()));
        }
    }

    /// What their documentation says depends on how they are installed.
    #[test]
    fn what_has_no_usual_port_has_no_address() {
        for slug in [
            "nextcloud",
            "mealie",
            "vaultwarden",
            "speedtest-tracker",
            "truenas",
        ] {
            assert_eq!(service_of(slug).unwrap().address_on("nas"), None, "{slug}");
        }
        let jellyfin = service_of("jellyfin").unwrap();
        assert_eq!(
            jellyfin.address_on("nas.lan").as_deref(),
            Some("http://nas.lan:8096")
        );
        assert_eq!(jellyfin.address_on(""), None);
    }

    #[test]
    fn a_port_that_one_service_has_names_it() {
        let found = |href| at_port_of(href).map(|service| service.slug);
        assert_eq!(found("http://192.168.1.2:8123/lovelace"), Some("home-assistant"));
        assert_eq!(found("http://[fd00::1]:2283"), Some("immich"));
        for none in [
            "http://nas:3000",
            "http://nas:8096",
            "http://nas",
            "http://nas:1",
            "nas:8123",
            "http://[fd00::8123]",
            "",
        ] {
            assert_eq!(found(none), None, "{none}");
        }
    }

    #[test]
    fn a_host_is_taken_from_what_people_type() {
        for (typed, host) in [
            ("nas.lan", Some("nas.lan")),
            (" 192.168.1.2 ", Some("192.168.1.2")),
            ("http://nas.lan:8096/web", Some("nas.lan")),
            ("nas:5000", Some("nas")),
            ("[fd00::1]:80", Some("[fd00::1]")),
            ("[fd00::1]", Some("[fd00::1]")),
            ("two words", None),
            ("javascript://x", None),
            ("<script>", None),
            ("me@nas", None),
            ("", None),
        ] {
            assert_eq!(host_of(typed).as_deref(), host, "{typed}");
        }
    }
}
