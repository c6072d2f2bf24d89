-- Who signs in for the first time by an identity provider may be somebody whose email is known here:
-- without an index every user is looked at.

CREATE INDEX user_by_email ON user (email) WHERE email IS NOT NULL;
