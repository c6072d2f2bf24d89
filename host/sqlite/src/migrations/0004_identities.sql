-- A user is one subject of each provider: whoever was linked to one is not linked to another.

DROP INDEX identity_by_user;
CREATE UNIQUE INDEX identity_by_user ON identity (user_id, provider);
