//! The kinds of refusals, as clients see them.

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of tRPC and HTTP")]
pub enum Code {
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotSupported,
    Conflict,
    PayloadTooLarge,
    UnsupportedMediaType,
    TooManyRequests,
    InternalServerError,
    ServiceUnavailable,
    Timeout,
}

impl Code {
    /// The name that clients see.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// The status of an HTTP response.
    pub fn http_status(self) -> u16 {
        self.facts().1
    }

    /// The number in a procedure call's error, from JSON-RPC and tRPC.
    pub fn rpc_code(self) -> i32 {
        self.facts().2
    }

    /// The seconds after which the same call may succeed, where nothing more is known.
    pub fn retry_after(self) -> Option<u64> {
        const SOON: u64 = 5;
        matches!(self, Self::ServiceUnavailable | Self::Timeout).then_some(SOON)
    }

    fn facts(self) -> (&'static str, u16, i32) {
        match self {
            Self::BadRequest => ("BAD_REQUEST", 400, -32600),
            Self::Unauthorized => ("UNAUTHORIZED", 401, -32001),
            Self::Forbidden => ("FORBIDDEN", 403, -32003),
            Self::NotFound => ("NOT_FOUND", 404, -32004),
            Self::MethodNotSupported => ("METHOD_NOT_SUPPORTED", 405, -32005),
            Self::Conflict => ("CONFLICT", 409, -32009),
            Self::PayloadTooLarge => ("PAYLOAD_TOO_LARGE", 413, -32013),
            Self::UnsupportedMediaType => ("UNSUPPORTED_MEDIA_TYPE", 415, -32015),
            Self::TooManyRequests => ("TOO_MANY_REQUESTS", 429, -32029),
            Self::InternalServerError => ("INTERNAL_SERVER_ERROR", 500, -32603),
            Self::ServiceUnavailable => ("SERVICE_UNAVAILABLE", 503, -32603),
            Self::Timeout => ("TIMEOUT", 504, -32008),
        }
    }
}
