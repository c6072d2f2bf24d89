// The icons of apps and search engines: what stands in for one that cannot be had, or that cannot be seen on its ground.
// console.js is read after it.
"use strict";

// An icon that cannot be had is replaced by the first letter of the name. A picture without one leaves its place empty, so
// that nothing moves.
function replaceIcon(image) {
  if (image.dataset.initial === undefined) {
    image.style.visibility = "hidden";
    return;
  }
  if (image.parentElement) image.parentElement.dataset.initial = image.dataset.initial;
  image.remove();
}
document.addEventListener("error", ({ target }) => target instanceof HTMLImageElement && replaceIcon(target), true);

// An icon that is nearly black in dark colours, or nearly white in light ones, is replaced by the variant that its
// collection made for such a ground. A black one without a variant gets a light plate.
const isDark = () => getComputedStyle(document.documentElement).getPropertyValue("color-scheme") === "dark" ||
  (document.documentElement.dataset.colors === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);

function plate(image) {
  if (image.naturalWidth === 0) return;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 16;
  const drawing = canvas.getContext("2d", { willReadFrequently: true });
  drawing.drawImage(image, 0, 0, 16, 16);
  const { data } = drawing.getImageData(0, 0, 16, 16);
  let [seen, dark, light] = [0, 0, 0];
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] < 128) continue;
    seen++;
    dark += Math.max(data[at], data[at + 1], data[at + 2]) < 70;
    light += Math.min(data[at], data[at + 1], data[at + 2]) > 225;
  }
  // A picture without gaps has its own ground.
  const ground = isDark() ? "dark" : "light";
  if (seen === 0 || seen >= 230 || (isDark() ? dark : light) <= seen * 0.85) return;
  const isIcon = /^\/icons\/(apps|engines)\//.test(new URL(image.src).pathname);
  if (isIcon && !image.src.includes("&on=")) image.src += `&on=${ground}`;
  else if (isDark()) image.classList.add("on-plate");
}
document.addEventListener("load", ({ target }) => target.dataset?.initial && plate(target), true);

// When the ground changes, icons are looked at again, each as it is by itself.
function plateAgain() {
  for (const image of document.querySelectorAll("img[data-initial]")) {
    image.classList.remove("on-plate");
    const itself = image.src.replace(/&on=\w+/, "");
    if (image.src !== itself) image.src = itself;
    else if (image.complete) plate(image);
  }
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", plateAgain);
