// Is the document (the file named) what OpenAPI 3.1 says, its schemas included? Nothing is fetched:
// the package brings the meta-schemas.

import { readFile } from "node:fs/promises";
import { validate } from "@hyperjump/json-schema/openapi-3-1";

const document = JSON.parse(await readFile(process.argv[2], "utf8"));
const output = await validate("https://spec.openapis.org/oas/3.1/schema-base", document, "BASIC");
if (!output.valid) {
  console.error(JSON.stringify(output.errors?.slice(-20), null, 2));
  process.exit(1);
}
console.log("valid");
