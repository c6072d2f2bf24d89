//! Settings in layers: the command line and the environment override the file.

/// Gives a struct of options the method `over`.
macro_rules! layered {
    ($settings:ident { $($field:ident),+ $(,)? }) => {
        impl $settings {
            /// Each setting from `self` or, where `self` does not set it, from `fallback`.
            pub fn over(self, fallback: &Self) -> Self {
                Self {
                    $($field: self.$field.or_else(|| fallback.$field.clone()),)+
                }
            }
        }
    };
}

pub(super) use layered;
