//! The records that the inputs of [`procedures`](crate::procedures) refer to, in a running service.

use std::cell::LazyCell;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;

use crate::procedures::{Records, Row, short};
use crate::{Anonymous, Client, Fixtures, MISSING, PASSWORD, Session, User};

/// The user whom a call is about.
#[derive(Clone)]
pub struct Target {
    pub id: String,
    pub name: String,
}

impl Target {
    /// A user that does not exist.
    pub fn missing() -> Self {
        Self {
            id: MISSING.to_owned(),
            name: "missing".to_owned(),
        }
    }
}

impl From<&User> for Target {
    fn from(user: &User) -> Self {
        Self {
            id: user.id.clone(),
            name: user.name.clone(),
        }
    }
}

/// The name of the group that a [`World`] begins with.
const GROUP: &str = "The group";
/// The short address of its board.
const SLUG: &str = "public";

/// What is in the service before the calls of a test.
pub struct World {
    /// The first user.
    pub admin: Session,
    app: String,
    board: String,
    group: String,
    names: AtomicU32,
    flags: AtomicU32,
}

impl World {
    /// An app, a public board and a group, made by this administrator.
    pub fn new(admin: Session) -> Self {
        Self {
            app: admin.app("The app"),
            board: {
                let board = json!({"name": "The public board", "isPublic": true, "slug": SLUG, "items": []});
                admin.make("board.create", &board, "id")
            },
            group: admin.group(GROUP, &[]),
            admin,
            names: AtomicU32::new(0),
            flags: AtomicU32::new(0),
        }
    }

    /// A name that nothing has yet.
    pub fn name(&self) -> String {
        format!("thing-{}", self.names.fetch_add(1, Ordering::Relaxed))
    }

    /// A new user for a call to be about.
    pub fn new_target(&self) -> Target {
        Target::from(&self.admin.user(&self.name()))
    }

    /// A good input for this procedure, about this user. Makes the records that it needs.
    pub fn input(&self, row: &Row, target: &Target) -> serde_json::Value {
        self.input_about(row, || target.clone())
    }

    /// The same about a new user, who is made only if the input names one: that takes the hash of a password.
    pub fn input_about_new_user(&self, row: &Row) -> serde_json::Value {
        self.input_about(row, || self.new_target())
    }

    fn input_about(&self, row: &Row, target: impl Fn() -> Target) -> serde_json::Value {
        let target: LazyCell<Target, &dyn Fn() -> Target> = LazyCell::new(&target);
        row.input(&mut About { world: self, target })
    }

    /// The id of a new session of this user; [`MISSING`] for a user that does not exist.
    fn session_of(&self, user: &Target) -> String {
        let credentials = json!({"username": user.name, "password": PASSWORD});
        // A sign-in with the administrator's own session would end that session.
        let anonymous = Anonymous {
            endpoint: self.admin.endpoint().clone(),
        };
        let answer = anonymous.post("/api/auth/sign-in", &credentials);
        if answer.status == 401 {
            return MISSING.to_owned();
        }
        let token = answer.assert_status(200).json()["token"].clone();
        let token = token.as_str().expect("a token");
        let sessions = anonymous
            .key(token)
            .query("session.getAll", &crate::NO_INPUT)
            .data();
        let mut sessions = sessions.as_array().expect("a list").iter();
        let current = sessions.find(|session| session["current"] == true);
        let id = current.expect("the session")["id"].as_str();
        id.expect("an id").to_owned()
    }
}

/// A call that is about this user.
struct About<'a> {
    world: &'a World,
    target: LazyCell<Target, &'a dyn Fn() -> Target>,
}

impl Records for About<'_> {
    fn user(&mut self) -> String {
        self.target.id.clone()
    }

    fn user_name(&mut self) -> String {
        self.target.name.clone()
    }

    fn app(&mut self) -> String {
        self.world.app.clone()
    }

    fn board(&mut self) -> String {
        self.world.board.clone()
    }

    fn board_slug(&mut self) -> String {
        SLUG.to_owned()
    }

    fn group(&mut self) -> String {
        self.world.group.clone()
    }

    fn group_name(&mut self) -> String {
        GROUP.to_owned()
    }

    fn spare_app(&mut self) -> String {
        self.world.admin.app("Spare")
    }

    fn spare_board(&mut self) -> String {
        self.world.admin.board(&self.world.name(), false)
    }

    fn spare_group(&mut self) -> String {
        self.world.admin.group(&self.world.name(), &[])
    }

    fn spare_search_engine(&mut self) -> String {
        let name = self.world.name();
        self.world.admin.search_engine(&name, &short(&name))
    }

    fn spare_key(&mut self) -> String {
        let owner = json!({"userId": self.target.id});
        self.world.admin.make("apiKeys.create", &owner, "id")
    }

    fn spare_invite(&mut self) -> String {
        self.world.admin.invite().id
    }

    fn spare_session(&mut self) -> String {
        self.world.session_of(&self.target)
    }

    fn membership(&mut self) -> (String, String) {
        let (group, user) = (self.spare_group(), self.target.id.clone());
        let member = json!({"groupId": group, "userId": user});
        self.world.admin.output_of("group.addMember", &member);
        (group, user)
    }

    fn invite(&mut self) -> (String, String) {
        let invite = self.world.admin.invite();
        (invite.id, invite.token)
    }

    fn password_link(&mut self) -> String {
        let user = json!({"userId": self.target.id});
        self.world.admin.make("user.createPasswordLink", &user, "token")
    }

    fn name(&mut self) -> String {
        self.world.name()
    }

    fn flag(&mut self) -> bool {
        self.world.flags.fetch_add(1, Ordering::Relaxed).is_multiple_of(2)
    }

    fn reader(&mut self) -> String {
        self.world.admin.user_id.clone()
    }
}
