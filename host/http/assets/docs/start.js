// Everything is beside this page, so that it works behind any path that a proxy puts before it, and
// nothing is asked of anybody else: no validator, no settings from the address.
SwaggerUIBundle({
  url: "openapi",
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  queryConfigEnabled: false,
  presets: [SwaggerUIBundle.presets.apis],
});
