//! The icons of the household, from the lines of `icons.txt`: they need no network.

const DRAWINGS: &str = include_str!("icons.txt");

/// The shapes of their grounds.
const SHAPES: [(&str, &str); 3] = [
    ("square", "<rect width='48' height='48' rx='11.5'/>"),
    ("circle", "<circle cx='24' cy='24' r='24'/>"),
    (
        "shield",
        "<path d='M24 0l19 6.5v15C43 34.5 35 43.5 24 48 13 43.5 5 34.5 5 21.5v-15z'/>",
    ),
];

/// The icon of this name, as the URL of its picture.
pub fn icon(name: &str) -> Option<String> {
    let mut drawings = DRAWINGS.lines().map(|line| line.splitn(5, ' '));
    let mut parts = drawings.find_map(|mut parts| (parts.next() == Some(name)).then_some(parts))?;
    let (shape, from, to, drawing) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let (_, shape) = SHAPES.iter().find(|(known, _)| *known == shape)?;
    let picture = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 48 48'><linearGradient id='g' x2='.3' y2='1'><stop \
         stop-color='{from}'/><stop offset='1' stop-color='{to}'/></linearGradient><clipPath \
         id='c'>{shape}</clipPath><g clip-path='url(#c)'><path d='M0 0h48v48H0z' fill='url(#g)'/>{drawing}</g></svg>"
    );
    Some(format!("data:image/svg+xml,{}", picture.replace('#', "%23")))
}
