-- A first sign-in by an identity provider looks for a user with the same email; without an index that reads
-- every user.

CREATE INDEX user_by_email ON user (email) WHERE email IS NOT NULL;
