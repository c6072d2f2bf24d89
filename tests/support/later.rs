//! A component as a later version of the contract may have it, made of another component.

use wasm_encoder::{
    ComponentExportKind, ComponentExportSection, ComponentInstanceSection, ComponentSection as _,
    ComponentSectionId, RawSection,
};
use wasmparser::Validator;

use crate::renamed;

/// What exports one more interface.
const MORE: &str = r#"(component
    (core module $code (func (export "count") (result i32) i32.const 7))
    (core instance $running (instantiate $code))
    (func (export "count") (result u32) (canon lift (core func $running "count"))))"#;

/// The component of 1.0.0 as one of 1.1.0, which also exports `more` with the function `count`.
#[track_caller]
pub fn later(component: &[u8]) -> Vec<u8> {
    let mut bytes = renamed(component, "@1.0.0", "@1.1.0");
    let types = Validator::new().validate_all(&bytes).expect("a component");
    let (components, instances) = {
        let types = types.as_ref();
        (types.component_count(), types.component_instance_count())
    };
    let more = wat::parse_str(MORE).expect("a component");
    let id = ComponentSectionId::Component.into();
    RawSection { id, data: &more }.append_to_component(&mut bytes);
    let mut instance = ComponentInstanceSection::new();
    instance.instantiate(components, [] as [(&str, ComponentExportKind, u32); 0]);
    instance.append_to_component(&mut bytes);
    let mut export = ComponentExportSection::new();
    let name = "portico:dashboard/more@1.1.0";
    export.export(name, ComponentExportKind::Instance, instances, None);
    export.append_to_component(&mut bytes);
    Validator::new().validate_all(&bytes).expect("a component");
    bytes
}
