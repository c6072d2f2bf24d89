//! The drawings of the household's icons: they need no network.

/// Drawings by name, as paths of white lines in a square of 48.
const DRAWINGS: &[(&str, &str)] = &[
    ("play", "M18 13l18 11-18 11z"),
    (
        "note",
        "M20 34V14l15-3v20M20 34a4 4 0 1 1-8 0 4 4 0 0 1 8 0M35 31a4 4 0 1 1-8 0 4 4 0 0 1 8 0",
    ),
    (
        "book",
        "M24 15c-4-3-9-3-13-2v22c4-1 9-1 13 2 4-3 9-3 13-2V13c-4-1-9-1-13 2zM24 15v22",
    ),
    ("photo", "M11 13h26v22H11zM11 31l8-8 6 6 4-4 8 8M30 20h.1"),
    (
        "cloud",
        "M16 33a7 7 0 0 1-1-14 10 10 0 0 1 19-1 7.500 7.500 0 0 1-1 15z",
    ),
    ("page", "M15 10h13l6 6v22H15zM28 10v6h6M20 23h9M20 29h9"),
    (
        "pot",
        "M12 20h24v9a7 7 0 0 1-7 7H19a7 7 0 0 1-7-7zM9 20h30M19 14v-3M24 14v-3M29 14v-3",
    ),
    ("lock", "M14 22h20v15H14zM18 22v-4a6 6 0 0 1 12 0v4M24 28v3"),
    ("house", "M10 24l14-13 14 13M14 21v16h20V21M21 37v-8h6v8"),
    (
        "camera",
        "M10 17h7l2-4h10l2 4h7v18H10zM24 31a6 6 0 1 0 0-12 6 6 0 0 0 0 12",
    ),
    ("chart", "M11 37h26M15 32v-7M22 32V19M29 32v-9M35 32V14"),
    ("pulse", "M9 25h7l4-11 7 21 4-10h8"),
    (
        "shield",
        "M24 10l12 4v9c0 8-5 13-12 15-7-2-12-7-12-15v-9zM19 24l4 4 7-8",
    ),
    (
        "branch",
        "M17 14v20M17 14a3 3 0 1 0 0-.1M17 37a3 3 0 1 0 0-.1M31 20a3 3 0 1 0 0-.1M31 20c0 7-14 5-14 11",
    ),
    (
        "disks",
        "M12 13h24v9H12zM12 26h24v9H12zM17 17.500h.1M17 30.500h.1M24 17.500h7M24 30.500h7",
    ),
    (
        "wave",
        "M12 22a17 17 0 0 1 24 0M16 27a11 11 0 0 1 16 0M20 32a5.500 5.500 0 0 1 8 0M24 36h.1",
    ),
    ("cube", "M24 10l13 7v14l-13 7-13-7V17zM11 17l13 7 13-7M24 24v14"),
    ("star", "M24 11l4 9 9 1-7 6 2 10-8-5-8 5 2-10-7-6 9-1z"),
    ("glass", "M22 32a10 10 0 1 0 0-20 10 10 0 0 0 0 20M37 37l-8-8"),
];

/// The icon of a text such as `#8d4bb8 play`.
pub fn icon(text: &str) -> Option<String> {
    let (colour, name) = text.split_once(' ')?;
    let (_, path) = DRAWINGS.iter().find(|(drawing, _)| *drawing == name)?;
    let drawing = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 48 48'><rect width='48' height='48' rx='11' \
         fill='{colour}'/><path d='{path}' fill='none' stroke='#fff' stroke-width='3' stroke-linecap='round' \
         stroke-linejoin='round'/></svg>"
    );
    Some(format!("data:image/svg+xml,{}", drawing.replace('#', "%23")))
}
