//! The requests that are timed, each on one connection, and the bounds of their growth.

use std::time::{Duration, Instant};

use portico_tests::procedures::{Row, TABLE};
use portico_tests::{PASSWORD, Session, Target, World, trpc_query_path};
use serde_json::{Value, json};

use super::fill::{app_id, user_id};
use super::table::Figures;
use crate::{
    data::{self, COMMON, ONCE},
    load::Request,
    process::{Connection, Server},
    report::median,
};

/// How often and for how long a request is timed at most.
const REPEATS: usize = 31;
const LONG: Duration = Duration::from_secs(1);

/// Within what the time of these procedures may grow, with the input of the tests. The others have no bound: a list
/// without pages grows with its records.
const BOUNDS: [(&str, f64); 10] = [
    ("app.byId", 3.0),
    ("app.create", 3.0),
    ("app.update", 3.0),
    ("app.delete", 3.0),
    ("user.getById", 3.0),
    ("user.create", 3.0),
    ("user.editProfile", 3.0),
    ("user.delete", 3.0),
    ("app.getPaginated", 20.0),
    ("user.getPaginated", 20.0),
];

/// A read that is compared between the sizes.
pub struct Read {
    pub work: String,
    pub bound: Option<f64>,
    pub path: String,
}

/// Reads of which the bounds speak, and others that may be heavy.
pub fn reads(size: usize) -> Vec<Read> {
    const PAGE: usize = 10;
    let mut reads = Vec::new();
    let mut add = |work: String, bound: f64, procedure: &str, input: Value| {
        let path = trpc_query_path(procedure, &input);
        reads.push(Read {
            work,
            bound: Some(bound),
            path,
        });
    };
    let middle = size / 2;
    add(
        "app.byId, one in the middle".into(),
        3.0,
        "app.byId",
        json!({"id": app_id(middle)}),
    );
    add(
        "user.getById, one in the middle".into(),
        3.0,
        "user.getById",
        json!({"userId": user_id(middle)}),
    );
    for kind in ["app", "user"] {
        let paginated = format!("{kind}.getPaginated");
        let page = |page: usize| json!({"page": page, "pageSize": PAGE});
        add(
            format!("{kind}: the first page with its count"),
            3.0,
            &paginated,
            page(1),
        );
        add(
            format!("{kind}: the last page"),
            20.0,
            &paginated,
            page(size / PAGE),
        );
        add(
            format!("{kind}: the page in the middle"),
            20.0,
            &paginated,
            page(middle / PAGE),
        );
        let common = if kind == "app" { COMMON } else { "member" };
        // At the end of the order stand those that begin with it.
        let last = data::FIRST_WORDS[data::FIRST_WORDS.len() - 1].to_lowercase();
        let search = format!("{kind}.search");
        for (what, text, bound) in [
            ("search: one hit", ONCE, 3.0),
            ("search: no hit", "xylophone", 3.0),
            ("search: ten of the hits in every name", common, 3.0),
            ("search: ten of the hits in one of twelve names", "gallery", 3.0),
            (
                "search: ten of the hits that are last in order",
                last.as_str(),
                3.0,
            ),
            ("search: two letters in every name", &common[..2], 20.0),
            ("search: two letters in one name", "tz", 20.0),
            ("search: two letters in no name", "xq", 20.0),
            ("search: one letter in no name", "\u{3a9}", 20.0),
        ] {
            let input = json!({"query": text, "limit": 10});
            add(format!("{kind}: {what}"), bound, &search, input);
            if what.starts_with("search: ten") || what.contains("in one name") {
                let input = json!({"page": 1, "pageSize": PAGE, "search": text});
                let what = what
                    .replace("search: ten of the", "a page and the total of")
                    .replace("search: ", "a page and the total of ");
                add(format!("{kind}: {what}"), 20.0, &paginated, input);
            }
        }
    }
    let of_provider = json!({"page": 1, "pageSize": PAGE, "provider": "oidc"});
    add(
        "user: a page and the total of a provider".into(),
        20.0,
        "user.getPaginated",
        of_provider,
    );
    let disabled = json!({"page": 1, "pageSize": PAGE, "disabled": true});
    add(
        "user: a page and the total of those disabled".into(),
        20.0,
        "user.getPaginated",
        disabled,
    );
    reads
}

/// Times every procedure with the inputs of the tests, and the reads of which the bounds speak.
pub fn measure(
    server: &Server,
    admin: Session,
    size: usize,
    only: &str,
    quick: bool,
) -> anyhow::Result<Vec<Figures>> {
    let token = admin.token.clone();
    let world = World::new(admin);
    let mut timer = Timer {
        server,
        connection: Connection::new(server.address)?,
        repeats: if quick { 7 } else { REPEATS },
    };
    let root = Target {
        id: world.admin.user_id.clone(),
        name: "root".into(),
    };
    let mut figures = Vec::new();
    for read in reads(size) {
        if read.work.contains(only) {
            let request = Request::get(&read.path).with_key(&token).text();
            figures.push(timer.time(read.work, read.bound, || request.clone())?);
        }
    }
    let sign_in = "sign-in";
    if sign_in.contains(only) {
        let credentials = json!({"username": data::name(size / 2, size, "member"), "password": PASSWORD});
        let request = Request::post("/api/auth/sign-in", &credentials).text();
        figures.push(timer.time(sign_in.into(), Some(3.0), || request.clone())?);
    }
    for row in TABLE {
        // The first user is there already.
        if row.name == "user.initUser" || !row.name.contains(only) {
            continue;
        }
        let bound = BOUNDS.iter().find(|(name, _)| *name == row.name);
        let target = world.new_target();
        let next = || {
            let target = match row.name {
                "user.delete" => &world.new_target(),
                // Of one's own.
                "session.delete" => &root,
                _ => &target,
            };
            request(row, &world.input(row, target)).with_key(&token).text()
        };
        figures.push(timer.time(row.name.into(), bound.map(|(_, bound)| *bound), next)?);
    }
    Ok(figures)
}

fn request(row: &Row, input: &Value) -> Request {
    match row.kind {
        "query" => Request::get(trpc_query_path(row.name, input)),
        _ => Request::post(format!("/api/trpc/{}", row.name), input),
    }
}

struct Timer<'a> {
    server: &'a Server,
    connection: Connection,
    repeats: usize,
}

impl Timer<'_> {
    /// Times requests; each is made before its time begins.
    fn time(
        &mut self,
        work: String,
        bound: Option<f64>,
        mut next: impl FnMut() -> String,
    ) -> anyhow::Result<Figures> {
        self.server.forget_peak()?;
        let (mut times, mut status) = (Vec::new(), String::new());
        let began = Instant::now();
        // The first one is for what is made once, unless it takes so long that no other follows.
        while times.len() <= self.repeats && (times.len() < 2 || began.elapsed() < LONG) {
            let request = next();
            let sent = Instant::now();
            let (answered, _) = self.connection.send(&request)?;
            times.push(sent.elapsed().as_secs_f64() * 1e6);
            status = answered;
            if times.len() == 1 && began.elapsed() > LONG {
                break;
            }
        }
        let first = times[0];
        let counted = &times[usize::from(times.len() > 1)..];
        Ok(Figures {
            work,
            bound,
            micros: median(counted.iter().copied()),
            first: Some(first),
            alone: None,
            peak: Some(self.server.peak()?),
            status: Some(status).filter(|status| status != "200"),
        })
    }
}
