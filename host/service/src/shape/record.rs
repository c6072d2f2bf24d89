//! Records: the struct that a procedure takes, declared together with its shape.

use super::{Field, Shape, required};

/// A record with a shape.
pub(crate) trait Shaped {
    const FIELDS: &'static [Field];
    const SHAPE: Shape = Shape::Record(Self::FIELDS);
}

/// Declares structs with their shapes. A line is a field: its type, key, shape and description. `..part: Type` stands
/// for the fields of another record.
macro_rules! records {
    ($(
        $(#[$meta:meta])*
        $visibility:vis struct $record:ident {
            $(
                $(..$part:ident: $part_type:ident)?
                $($(#[$attribute:meta])*
                    $field:ident: $type:ty = $presence:ident($key:literal, $shape:expr)$(.about($about:expr))?)?
            ,)*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(serde::Deserialize)]
        $visibility struct $record {
            $(
                $(#[serde(flatten)] pub $part: $part_type,)?
                $($(#[$attribute])* #[serde(rename = $key)] pub $field: $type,)?
            )*
        }

        impl $crate::shape::Shaped for $record {
            const FIELDS: &'static [$crate::shape::Field] = $crate::shape::join!($(
                $(<$part_type as $crate::shape::Shaped>::FIELDS)?
                $(&[$presence($key, $shape)$(.about($about))?])?
            ),*);
        }
    )*};
}

/// Gives a record of the contract its shape. Does not compile if a field is missing.
macro_rules! shape_of {
    ($record:ident { $($field:ident: $shape:expr,)* }) => {
        impl $crate::shape::Shaped for $record {
            const FIELDS: &'static [$crate::shape::Field] = &[$($shape),*];
        }

        const _: fn($record) = |$record { $($field: _),* }| ();
    };
}

/// The fields of all these lists.
macro_rules! join {
    ($($fields:expr),* $(,)?) => {
        &$crate::shape::join_all::<{ 0 $(+ $fields.len())* }>(&[$($fields),*])
    };
}

pub(crate) use {join, records, shape_of};

pub(crate) const fn join_all<const COUNT: usize>(lists: &[&[Field]]) -> [Field; COUNT] {
    let mut joined = [required("", Shape::Nothing); COUNT];
    let (mut list, mut index, mut count) = (0, 0, 0);
    while count < COUNT {
        if index == lists[list].len() {
            (list, index) = (list + 1, 0);
        } else {
            joined[count] = lists[list][index];
            (index, count) = (index + 1, count + 1);
        }
    }
    joined
}
