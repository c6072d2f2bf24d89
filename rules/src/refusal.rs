//! The refusals of calls: each a sentence, with the code that it has.
//!
//! Where a sentence is the same for several reasons, the reason is not to be known.

use alloc::string::String;

use crate::code::Code;
use crate::sentences;
use crate::sentences::{Seconds, Word};

/// Defines the refusals: `Name { part: Type } = Code "sentence",`.
macro_rules! refusals {
    ($(#[$about:meta])* $kind:ident {
        $($name:ident $({ $($part:ident: $of:ty),* $(,)? })? = $code:ident $sentence:literal,)*
    }) => {
        sentences! {
            $(#[$about])*
            $kind { $($name $({ $($part: $of),* })? = $sentence,)* }
        }

        impl $kind {
            /// The kind of error that it is.
            pub fn code(&self) -> Code {
                match self {
                    $(Self::$name $({ $($part: _),* })? => Code::$code,)*
                }
            }
        }
    };
}

refusals! {
    /// Why a call is refused.
    Refusal {
        SignIn = Unauthorized "Sign in, or send a valid API key or session token",
        SignInFirst = Unauthorized "Sign in first",
        WrongPassword = Unauthorized "Wrong username or password",
        SecondFactorNeeded = Unauthorized "The password is right, and a second factor is needed: send its code as well",
        SecondFactorToSetUp = Unauthorized "The password is right. A second factor is required here: set one up first",
        WrongSecondFactor = Unauthorized "The code is wrong, or was used before",
        WrongPasskey = Unauthorized "The passkey was not accepted; try again",
        DeadTicket = Unauthorized "This sign-in took too long, or has ended; begin again",
        PasswordsOff = Forbidden "Signing in with a password is off",
        PasswordsOfAdministrators = Forbidden "Only administrators sign in with a password here",
        NotYourUser = Forbidden "This is only allowed for your own user",
        NotYourExtras = Forbidden "This needs the permission admin: it is about another user",
        KeyOnlyReads = Forbidden "This API key may only read",
        LimitedKeyMakesKeys = Forbidden "An API key that may do less than its user makes no keys",
        LimitedKeySignIn = Forbidden
            "An API key without the permission admin does not change how its user signs in",
        LimitedKeyOwnAccess = Forbidden
            "An API key that may do less than its user neither sees nor ends sessions and other keys",
        NeedsPermission { permission: Word } = Forbidden "This needs the permission {permission}",
        OtherOrigin { what: SiteRule, origin: String, host: String } = Forbidden
            "{what}. The page is of {origin}, and the request is for the host {host}. If both are this service, set \
             public-url (--public-url, PORTICO_PUBLIC_URL) to the address that people open, or let the proxy pass the \
             header Host on unchanged",
        OtherSite { what: SiteRule } = Forbidden "{what}",
        NoUserYetHere { host: String } = Forbidden
            "There is no user yet, and until there is one browsers are answered only at an IP address, localhost or \
             the host of public-url (--public-url, PORTICO_PUBLIC_URL), and not at {host}. Open the service there, or \
             set public-url to the address that you use",
        InFrame = Forbidden "This page does not open in a frame of another site",
        NotOpened = Forbidden "This is a page to open: a link or a redirect, not a fetch",

        OnboardingOver = Forbidden "Onboarding is over: a user exists",
        OnboardingFirst = Forbidden "The first user is created by onboarding",
        InvalidInvite = Forbidden "Invalid invite",
        DeadPasswordLink = Forbidden
            "This link cannot be used: it was used or replaced, or has expired. Ask for a new one",
        OwnPasswordLink = Forbidden "To set your own password, you need the previous one: use user.changePassword",
        SecondFactorElsewhere = Forbidden "The second factor of this user is a matter of the provider that they sign in with",
        OwnSecondFactor = Forbidden "To remove your own second factor, you need a code of it: use secondFactor.delete",
        RecentSignInNeeded = Forbidden
            "A further second factor is added within ten minutes after signing in: sign in again first",
        WrongOwnSecondFactor = Forbidden "The code does not fit, or was used before",
        WrongOwnPasskey = Forbidden "The passkey was not accepted; try again, with one of your own",
        PasskeysOff = NotFound
            "Passkeys are off: they need the address that people open, with https and a name, as public-url (--public-url, \
             PORTICO_PUBLIC_URL)",
        SecondFactorThere = Conflict "This second factor is set up already; remove it first",
        TooManySecondFactors { most: usize } = Conflict "You have {most} second factors; remove one first",
        NoSecondFactor = Conflict "No second factor is set up",
        NoPasskey = Conflict "No passkey is set up",
        UserDisabled = Conflict "The user is disabled: enable the user first",
        UsernameTaken = Conflict "Username already taken",
        WrongPreviousPassword = Forbidden "The previous password is wrong",
        UserChangedAtSignIn = Unauthorized "The user or the password was changed meanwhile: sign in again",
        PasswordChanged = Conflict "The password was changed meanwhile",
        ExternalUser = Forbidden "Name, email and password of this user belong to an external provider",
        LastAdminDeleted = Conflict "The last administrator cannot be deleted",
        LastAdminDisabled = Conflict "The last administrator cannot be disabled",
        LastAdminLoses = Conflict "This would take admin from the last administrator",
        NoAdministrator = Conflict
            "There would be no administrator: no user in a group with the permission admin",
        TooManyOwnKeys { most: usize } = Conflict "You have {most} API keys; delete one first",
        OperatorIsNoUser = BadRequest "The operator is not a user",

        ProviderOff = NotFound "Sign-in by OpenID Connect is off",
        ProviderSignOutOff = NotFound "Signing out at the issuer is off",
        QueryKeyTwice = BadRequest "A key of the query appears more than once",
        ProviderSilent = ServiceUnavailable "The sign-in provider does not answer; try again later",
        ProviderMisconfigured = ServiceUnavailable
            "The sign-in provider is set up wrong; ask your administrator (the log has the reason)",
        ProviderGroups = ServiceUnavailable "The sign-in provider names too many groups; ask your administrator",
        ProviderAccount = Forbidden
            "The provider's account cannot be used here; ask your administrator (the log has the reason)",
        InviteNeeded = Forbidden
            "You do not have a user here yet, and need an invite for one: open its link, and sign in from there",
        ProviderAccountTaken = Conflict "Another account of the provider is linked to the user",
        SignInNotConfirmed = Unauthorized "The sign-in was not confirmed; begin again",
        ProxyHeader { name: Word, rule: HeaderRule } = BadRequest "The header {name} of the proxy {rule}",
        ProxyElsewhere = Forbidden
            "Who has signed in at the proxy counts only at the public URL (--public-url): open it there, and let the \
             proxy pass the header Host on unchanged",
        GateProxy = Forbidden
            "Only a proxy that is named in --trusted-proxies may ask the gate, with exactly one of each header that says what \
             it was asked for, in visible characters of ASCII",
        GateNoApp = Forbidden "No app of this dashboard has this address",
        GateAmbiguous = Forbidden "Programs read this address differently, and it may be that of more than one app",
        GateNotYours = Forbidden
            "You may not open this app. Ask an administrator of the dashboard to share with you a board that has it",
        GateNameShared = Forbidden
            "Another user has your name, so apps could take you for each other. Ask an administrator of the dashboard to rename \
             one of you",
        GateNameReserved = Forbidden
            "Apps may take you for someone else, such as their own administrator, because of your name. Ask an administrator of \
             the dashboard to rename you",
        GateLoop = Forbidden
            "Your browser comes back again and again without the cookie that it got here: let it keep the cookies of this domain",
        GateNeedsSession = Forbidden "Only people who have signed in at this dashboard itself, in a browser, get through the gate",
        GateOff = NotFound "There is no gate in front of apps here",
        DirectorySilent = ServiceUnavailable "The directory cannot be reached; try again later",
        DirectoryMisconfigured = ServiceUnavailable
            "The directory is set up wrong; ask your administrator (the log has the reason)",

        BoardOfOthers = Forbidden "This needs to have made the board, or the permission board-full-all",
        BoardNotShared = Forbidden
            "This needs a share that lets you change the board, or the permission board-modify-all",
        BoardPublic = Forbidden "To change isPublic, this needs the permission board-full-all",
        GroupNotFound { id: String } = NotFound "Group {id} not found",
        NotFound { what: Missing } = NotFound "{what} not found",
        ListedNameTaken { list: Word, index: usize, what: UniqueName } = Conflict "{list}[{index}]: {what} is taken",
        NameTaken { what: UniqueName } = Conflict "{what} is taken",
        VersionChanged = Conflict "It has changed since this version of it was read",
        StateChanged = Conflict "Another call changed users or apps meanwhile; apply the document again",
        TooManyUnusedPictures { most: u64, mebibytes: u64 } = Conflict
            "You have uploaded {most} pictures, or {mebibytes} MiB of them, that nothing uses: use them, or wait a day",
        TooManyPictures { most: u64, mebibytes: u64 } = Conflict
            "There are {most} pictures, or {mebibytes} MiB of them: remove some from apps or looks first",
        NoIconCollection = ServiceUnavailable "No collection of icons can be reached now",
        NothingHere = NotFound "There is nothing at this path",

        UsersTooLarge = Conflict
            "The users are too large for one answer: read them in parts, with user.getPaginated or user.search",
        AppsTooLarge = Conflict "The apps are too large for one answer: read them in pages, with app.getPaginated",
        AskedAppsTooLarge = Conflict "The apps are too large for one answer: ask for fewer",
        AnswerTooLarge = Conflict "The answer would be too large",
        AnswersTooLarge = PayloadTooLarge "The answers of this batch are too large together",
        BodyTooLarge { most: usize } = PayloadTooLarge "The body is larger than {most} bytes",
        BodyCut = BadRequest "The body ended before it was whole",
        BodyTooSlow = Timeout "The body arrived too slowly; try again in a moment",
        BodyTooLate = Timeout "The body took too long to arrive",

        TooManyTries { wait: Seconds } = TooManyRequests "Too many tries; try again in {wait}",
        TooMuchAtOnce = ServiceUnavailable "Too much to do at once; try again in a moment",
        TooManySignIns = ServiceUnavailable "Too many sign-ins at once; try again in a moment",
        TooManyKeysToCheck = ServiceUnavailable "Too many API keys to check at once; try again in a moment",
        TooManyPasswords = ServiceUnavailable "Too many passwords to hash at once; try again in a moment",
        TooManyLongCalls = ServiceUnavailable "Too many long calls at once; try again in a moment",
        TooManyLargeCalls = ServiceUnavailable "Too many large calls at once; try again in a moment",
        TooManyAnswers = ServiceUnavailable
            "Too many answers wait for clients to read them; try again in a moment",
        CallTooLong = Timeout "The call took too long",
        CallTooBusy = Timeout "The call took more processor time than it may have",
        CallKeptOthers = Timeout "The call kept others from writing for too long",
        ClientLeft = Timeout "The client left before the answer",
        StorageBusy = ServiceUnavailable "Storage is busy; try again in a moment",
        StorageUnavailable = ServiceUnavailable "Storage is unavailable; try again later",
        InternalOf { request: Word } = InternalServerError "Internal server error (request {request})",
        Internal = InternalServerError "Internal server error",
    }
}

sentences! {
    /// What pages of other sites may not do.
    SiteRule {
        SignIn = "Another site cannot sign a user in",
        SignInOrOut = "Another site cannot sign a user in or out",
        Change = "The session cookie authorises no changes that another site asks for",
        SendForms = "Another site cannot send forms to this service",
        NoUserYet = "There is no user yet, and until there is one a browser is answered only what this service's own \
                     pages ask for. Open the service itself, at an IP address, localhost or the host of public-url \
                     (--public-url, PORTICO_PUBLIC_URL)",
    }
}

sentences! {
    /// What is wrong with a header in which a proxy says who has signed in.
    HeaderRule {
        Missing = "is missing",
        OtherSpelling = "is also there in another spelling",
        NotOnce = "must be there once",
        NotUtf8 = "must be UTF-8",
        Encoded = "must not be encoded (RFC 2047)",
        Empty = "must not be empty",
        List = "must not be a list",
        TooLong { most: usize } = "must have at most {most} characters",
    }
}

sentences! {
    /// What can be missing.
    Missing {
        ApiKey = "API key",
        App = "App",
        Board = "Board",
        Creator = "Creator",
        Group = "Group",
        Invite = "Invite",
        Member = "Member",
        Picture = "Picture",
        Procedure = "Procedure",
        SearchEngine = "Search engine",
        SecondFactor = "Second factor",
        Session = "Session",
        User = "User",
        UserOrGroup = "User or group",
    }
}

sentences! {
    /// What only one record may have.
    UniqueName {
        Board = "The board's name",
        BoardSlug = "The board's short address",
        Group = "The group's name",
        GroupId = "The group's id",
        SearchEngine = "The search engine's name or short",
        Listed = "the name",
        ListedBoardSlug = "the short address",
        ListedSearchEngine = "the name or the short",
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn every_refusal_is_read_back() {
        for refusal in Refusal::samples() {
            assert_eq!(
                Refusal::parse(&refusal.to_string()),
                Some(refusal.clone()),
                "{refusal}"
            );
        }
    }
}
