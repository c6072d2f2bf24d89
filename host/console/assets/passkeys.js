// Passkeys: a form that asks for one gets it from the browser, and sends it along. Without this script such forms are not
// shown. console.js loads it when a page has one.

const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

// Not every browser has parseCreationOptionsFromJSON, parseRequestOptionsFromJSON and toJSON.
function read(options) {
  const passkeys = (list) => list?.map((passkey) => ({ ...passkey, id: bytes(passkey.id) }));
  return {
    ...options,
    challenge: bytes(options.challenge),
    user: options.user && { ...options.user, id: bytes(options.user.id) },
    excludeCredentials: passkeys(options.excludeCredentials),
    allowCredentials: passkeys(options.allowCredentials),
  };
}

const PARTS = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
// A new passkey has no signature, and its other parts are in its attestation.
const PARTS_OF_NEW = PARTS.slice(0, 2);

function write(credential, isNew) {
  const response = {};
  for (const part of isNew ? PARTS_OF_NEW : PARTS) {
    if (credential.response[part]) response[part] = text(credential.response[part]);
  }
  return JSON.stringify({ id: credential.id, type: credential.type, response });
}

/** What the form asks the browser for. */
async function fetchOptions(form) {
  // For a sign-in whose password was right.
  const ticket = form.elements.ticket?.value;
  const answer = await fetch(form.dataset.options, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ticket }),
  });
  if (!answer.ok) throw Object.assign(new Error(), { status: answer.status });
  const { publicKey } = await answer.json();
  return read(publicKey);
}

async function ask(form) {
  const isNew = form.dataset.passkey === "create";
  try {
    const publicKey = await fetchOptions(form);
    const { credentials } = navigator;
    const credential = await (isNew ? credentials.create({ publicKey }) : credentials.get({ publicKey }));
    form.elements.credential.value = write(credential, isNew);
    form.submit();
  } catch (error) {
    const { there, old, often, failed } = form.dataset;
    // The words of the browser name no cause that people could do something about: most have only closed its window.
    const said = { InvalidStateError: there, 403: old, 429: often };
    tell(said[error.status ?? error.name] ?? failed);
  }
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-passkey]")) return;
  event.preventDefault();
  if (form.dataset.asks) return;
  form.dataset.asks = "yes";
  await ask(form);
  delete form.dataset.asks;
});
