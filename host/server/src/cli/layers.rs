//! Settings in layers: the command line and the environment override the file.

use std::any::Any;

/// Gives a struct of options the method `over`.
macro_rules! layered {
    ($settings:ident { $($field:ident),+ $(,)? }) => {
        impl $settings {
            /// Each setting from `self` or, where `self` does not set it or sets an empty text, from `fallback`.
            pub fn over(self, fallback: &Self) -> Self {
                Self {
                    $($field: self
                        .$field
                        .filter(|value| !$crate::cli::layers::is_empty(value))
                        .or_else(|| fallback.$field.clone()),)+
                }
            }
        }
    };
}

pub(super) use layered;

/// Whether a setting is a text without characters, which counts as not set.
pub(super) fn is_empty<T: Any>(value: &T) -> bool {
    let text = (value as &dyn Any).downcast_ref::<String>();
    text.is_some_and(String::is_empty)
}
