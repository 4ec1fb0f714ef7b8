// The form of a new node, made from the columns of the model.

import { byId, element } from "./element.js";

let model;
let fields = [];

/** Builds the form for a model. */
export function build(described) {
  model = described;
  const inputs = model.columns.map((column) => ({ ...(makers[column.takes] ?? text)(column), of: column.of }));
  if (!model.columns.length) inputs.push(attributes());
  fields = [text({ name: model.id }, "the node's name, if it has one"), ...inputs];
  byId("fields").replaceChildren(...fields.map((field) => field.element));
  typeField()?.input.addEventListener("change", showOfType);
}

const typeField = () => fields.find((field) => field.key === model.columns.find((column) => column.tells_type)?.name);

/** Shows the fields that a node of the chosen node type has. */
function showOfType() {
  const chosen = typeField()?.get().value;
  for (const { of, element } of fields) element.hidden = Boolean(chosen && of?.length && !of.includes(chosen));
}

/** Puts values into all fields; what is not given becomes empty. */
export function fill(node) {
  fields.forEach((field) => field.set(Object.hasOwn(node, field.key) ? node[field.key] : undefined));
  showOfType();
}

/** The node, or nothing where a field is wrong; the first such gets the focus. */
export function read() {
  // Without a prototype, so that a column may have any name.
  const node = Object.create(null);
  let wrong = null;
  for (const field of fields.filter((field) => !field.element.hidden)) {
    const { value, problem } = field.get();
    show(field, problem);
    if (problem) wrong ??= field;
    else if (value !== null) node[field.key] = value;
  }
  wrong?.input.focus();
  return wrong ? null : node;
}

/** Shows or hides what is wrong with a field. */
export function show({ input, complaint }, problem) {
  complaint.hidden = !problem;
  complaint.textContent = problem ?? "";
  input.setAttribute("aria-invalid", problem ? "true" : "false");
}

let made = 0;

function field(key, label, kind, input, before = null) {
  const id = `field-${++made}`;
  input.id = id;
  const complaint = element("p", { class: "problem", id: `${id}-problem`, hidden: true });
  input.setAttribute("aria-describedby", complaint.id);
  const named = element("label", { for: id }, label, kind ? element("span", { class: "kind" }, ` · ${kind}`) : "");
  return { key, input, complaint, element: element("div", { class: "field" }, named, before, input, complaint) };
}

const isEmpty = (value) => value === undefined || value === null;

function text({ name }, placeholder = "") {
  const input = element("input", { placeholder, spellcheck: "false" });
  return {
    ...field(name, name, "", input),
    set: (value) => (input.value = isEmpty(value) ? "" : String(value)),
    get: () => ({ value: input.value.trim() || null }),
  };
}

/** A few sentences, of which words count. */
function prose({ name }) {
  const input = element("textarea", { rows: "2" });
  return {
    ...field(name, name, "a text", input),
    set: (value) => (input.value = isEmpty(value) ? "" : String(value)),
    get: () => ({ value: input.value.trim() || null }),
  };
}

function flag({ name }) {
  const choice = [["", "unknown"], ["true", "yes"], ["false", "no"]];
  const input = element("select", {}, ...choice.map(([value, label]) => element("option", { value }, label)));
  return {
    ...field(name, name, "yes or no", input),
    set: (value) => (input.value = isEmpty(value) ? "" : String(value)),
    get: () => ({ value: input.value ? input.value === "true" : null }),
  };
}

/** One value: of a short list as a menu, of a long one as a text with suggestions. */
function choice(column) {
  const short = column.known_values > 0 && column.known_values <= 40;
  const options = column.values.map((value) => element("option", { value }, value));
  const list = element("datalist", { id: `choice-${++made}` }, ...(short ? [] : options));
  const input = short
    ? element("select", {}, element("option", { value: "" }, "unknown"), ...options)
    : element("input", { list: list.id, placeholder: "unknown", spellcheck: "false" });
  const whole = field(column.name, column.name, "choose one", input);
  whole.element.append(list);
  return {
    ...whole,
    set: (value) => (input.value = isEmpty(value) ? "" : String(value)),
    get: () => ({ value: input.value.trim() || null }),
  };
}

function date({ name }) {
  const input = element("input", { type: "date" });
  return {
    ...field(name, name, "a date", input),
    set: (value) => (input.value = isEmpty(value) ? "" : String(value).slice(0, 10)),
    get: () => (input.validity.badInput ? { problem: "this is no date; leave it empty if it is not known" } : { value: input.value || null }),
  };
}

function vector({ name, numbers }) {
  const input = element("textarea", { rows: "2", spellcheck: "false", placeholder: "0.1, 0.2, …" });
  return {
    ...field(name, name, `${numbers} numbers`, input),
    set: (value) => (input.value = isEmpty(value) ? "" : value.join(", ")),
    get: () => {
      const given = input.value.split(/[\s,;]+/).filter((part) => part).map(Number);
      if (!given.length) return { value: null };
      if (given.some((number) => !Number.isFinite(number))) return { problem: "not all of these are numbers" };
      return given.length === numbers ? { value: given } : { problem: `${given.length} numbers where ${numbers} are expected` };
    },
  };
}

function number(column) {
  const input = element("input", { inputmode: "decimal", placeholder: "unknown" });
  return {
    ...field(column.name, column.name, "a number", input),
    set: (value) => (input.value = value ?? ""),
    get: () => {
      const text = input.value.trim().replace(",", ".");
      if (!text) return { value: null };
      const value = Number(text);
      return Number.isFinite(value) ? { value } : { problem: `“${input.value.trim()}” is no number; leave it empty if it is not known` };
    },
  };
}

/** Words as chips: Enter or a comma adds one, Backspace in an empty field takes the last. */
function words(column) {
  const known = column.known_values > 0 && column.values.length === column.known_values ? new Set(column.values) : null;
  const choice = element("datalist", { id: `words-${++made}` }, ...column.values.map((value) => element("option", { value })));
  const list = element("ul", { class: "chips", "aria-label": `${column.name} that are given` });
  const input = element("input", { list: choice.id, placeholder: "a word, then Enter", spellcheck: "false" });
  let given = [];
  const draw = () => list.replaceChildren(...given.map(chip));
  const remove = (word) => {
    given = given.filter((other) => other !== word);
    draw();
    input.focus();
  };
  function chip(word) {
    const unknown = known !== null && !known.has(word);
    const button = element("button", { type: "button", "aria-label": `Remove ${word}`, onclick: () => remove(word) }, "×");
    const hint = unknown ? "The model does not know this word" : undefined;
    return element("li", { class: unknown ? "chip unknown" : "chip", title: hint }, element("span", {}, word), button);
  }
  const take = () => {
    const fresh = input.value.split(/[|,]/).map((word) => word.trim()).filter((word) => word && !given.includes(word));
    given.push(...new Set(fresh));
    input.value = "";
    draw();
  };
  input.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" && input.value.trim()) || event.key === ",") {
      event.preventDefault();
      take();
    } else if (event.key === "Backspace" && !input.value && given.length) remove(given.at(-1));
  });
  input.addEventListener("change", take);
  const made_field = field(column.name, column.name, "one or several", input, list);
  made_field.element.append(choice);
  return {
    ...made_field,
    set: (value) => {
      given = value === undefined || value === null ? [] : [value].flat().map(String);
      input.value = "";
      draw();
    },
    get: () => {
      take();
      return { value: given.length ? given : null };
    },
  };
}

/** Attributes by number, for a model that knows no columns. */
function attributes() {
  const input = element("textarea", { placeholder: "17: 1\n23: 0.5", spellcheck: "false" });
  return {
    ...field("attributes", "attributes", "number: value, one a line", input),
    set: (value) => (input.value = Object.entries(value ?? {}).map(([key, number]) => `${key}: ${number}`).join("\n")),
    get: () => {
      const value = {};
      for (const line of input.value.split("\n").filter((line) => line.trim())) {
        const match = line.match(/^\s*(\d+)\s*[:=\s]\s*([-+.\deE]+)\s*$/);
        if (!match || !Number.isFinite(Number(match[2]))) return { problem: `“${line.trim()}” is not “number: value”` };
        value[match[1]] = Number(match[2]);
      }
      return { value: Object.keys(value).length ? value : null };
    },
  };
}

const makers = { number, flag, choice, words, text: prose, date, vector };
