// Elements in one expression; texts are only ever set as texts.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

export function element(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

export function drawn(name, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, name), properties, children);
}

function filled(made, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const signed = (number) => (number < 0 ? "−" : "+") + Math.abs(number).toFixed(2);

export const whole = (number) => number.toLocaleString("en");

export function percent(share) {
  const hundredths = share * 100;
  if (hundredths === 0) return "0 %";
  if (hundredths < 0.001) return "< 0.001 %";
  return `${hundredths >= 10 ? hundredths.toFixed(0) : hundredths.toPrecision(2)} %`;
}
