//! The records that the registry's inputs refer to, chosen at random.

use portico_tests::procedures::Records;

use super::Inputs;

/// Records of every kind: mostly of those that exist.
impl Records for Inputs<'_> {
    fn user(&mut self) -> String {
        Inputs::user(self)
    }

    fn user_name(&mut self) -> String {
        self.username()
    }

    fn app(&mut self) -> String {
        self.world.apps.id(self.rng)
    }

    fn board(&mut self) -> String {
        self.world.boards.id(self.rng)
    }

    fn board_slug(&mut self) -> String {
        self.slug().to_owned()
    }

    fn group(&mut self) -> String {
        self.world.groups.id(self.rng)
    }

    fn group_name(&mut self) -> String {
        let group = self.world.groups.any(self.rng);
        group.map_or_else(|| "no group".into(), |group| group.name.clone())
    }

    fn spare_app(&mut self) -> String {
        self.app()
    }

    fn spare_board(&mut self) -> String {
        self.board()
    }

    fn spare_group(&mut self) -> String {
        self.group()
    }

    fn spare_search_engine(&mut self) -> String {
        self.world.engines.id(self.rng)
    }

    fn spare_key(&mut self) -> String {
        self.world.keys.id(self.rng)
    }

    /// Mostly one of the caller's own.
    fn spare_own_key(&mut self) -> String {
        let user = self.world.user_of(self.caller);
        let keys = self.world.keys.there.iter();
        let own = keys.filter(|key| user == Some(&key.user_id));
        match self.rng.choice(own.collect::<Vec<_>>()) {
            Some(own) if self.rng.u8(..8) != 0 => own.id.clone(),
            _ => self.spare_key(),
        }
    }

    fn spare_invite(&mut self) -> String {
        self.world.invites.id(self.rng)
    }

    /// Mostly one of the caller's own.
    fn spare_session(&mut self) -> String {
        let user = self.world.user_of(self.caller);
        let listed = &self.world.listed_sessions;
        let own = listed
            .there
            .iter()
            .filter(|session| user == Some(&session.user_id));
        match self.rng.choice(own.collect::<Vec<_>>()) {
            Some(own) if self.rng.u8(..8) != 0 => own.id.clone(),
            _ => listed.id(self.rng),
        }
    }

    fn membership(&mut self) -> (String, String) {
        match self.rng.choice(&self.world.members) {
            Some(member) if self.rng.u8(..5) != 0 => member.clone(),
            _ => (self.group(), Inputs::user(self)),
        }
    }

    fn invite(&mut self) -> (String, String) {
        let invite = match self.rng.u8(..8) {
            0 => self.rng.choice(&self.world.invites.gone),
            _ => self.rng.choice(&self.world.invites.there),
        };
        match invite {
            Some(invite) => (invite.id.clone(), invite.text.clone()),
            None => ("none".into(), "none".into()),
        }
    }

    fn password_link(&mut self) -> String {
        match self.rng.choice(&self.world.password_links) {
            Some(token) if self.rng.u8(..8) != 0 => token.clone(),
            _ => "none".into(),
        }
    }

    fn name(&mut self) -> String {
        self.label(64)
    }

    fn flag(&mut self) -> bool {
        self.rng.bool()
    }

    fn reader(&mut self) -> String {
        Inputs::user(self)
    }
}
