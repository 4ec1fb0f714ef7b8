// The page as a person uses it, in a real Chromium: by mouse and keyboard, on a phone, in the dark, with bad input.
//
//     node page.test.mjs CHROMIUM URL GUARDED_URL TOKEN SHOP_URL CITED_URL FOLDER
//
// The first two servers serve the demo's model, the second one behind a token; the third a model of users and items,
// the fourth one of papers that cite and like others.
// Screenshots go to FOLDER.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { chromium } from "playwright-core";

const [executablePath, url, guarded, token, shop, cited, folder] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});
after(() => browser?.close());

/** Opens the page in a fresh browser profile and holds it to what no page may do. */
async function opened(options = {}, at = url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => message.type() === "error" && !/status of 4\d\d|ERR_INTERNET/.test(message.text()) && complaints.push(message.text()));
  page.on("request", (request) => new URL(request.url()).origin === new URL(at).origin || complaints.push(`asked ${request.url()}`));
  await page.goto(at);
  return { page, done: async () => { await context.close(); assert.deepEqual(complaints, []); } };
}

/** Opens the page and waits for the links of the example. */
async function found(options) {
  const { page, done } = await opened(options);
  await page.waitForFunction(() => document.querySelectorAll("#links > li").length === 10);
  return { page, done };
}

async function checkAccessible(page) {
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => (await window.axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`));
  assert.deepEqual(violations, []);
}

const shot = (page, name) => page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });

test("an example is filled in, and its links come with bars, reasons, a neighbourhood and a map", async () => {
  const { page, done } = await opened();
  await page.locator("#fields .chip").first().waitFor();
  await page.getByRole("button", { name: "Find its links" }).click();
  const links = page.locator("#links > li");
  await links.nth(9).waitFor();
  assert.match(await page.getByRole("status").first().textContent(), /^10 links were found for/);
  const widths = await page.locator(".bar > span").evaluateAll((bars) => bars.map((bar) => parseFloat(bar.style.width)));
  assert.equal(widths[0], 100);
  assert.deepEqual(widths, widths.toSorted((a, b) => b - a));
  await links.first().locator("summary").click();
  assert.ok((await links.first().locator("table tr").count()) >= 2);
  assert.match(await links.first().locator("table").textContent(), /baseline/);
  assert.match(await page.locator("#similar").textContent(), /^Most similar nodes: /);
  assert.equal(await page.locator("#near .found").count(), 10);
  assert.equal(await page.locator("#near .likely").count(), 10);
  assert.equal(await page.locator("#map .newcomer").count(), 1);
  assert.ok((await page.locator("#map .dot").count()) > 100);
  await page.getByRole("button", { name: "Closer" }).click();
  assert.notEqual((await page.locator("#map svg").getAttribute("viewBox")).split(" ")[2], "1040");
  await page.getByRole("button", { name: "All", exact: true }).click();
  await shot(page, "desktop-light");
  await done();
});

test("a node is asked for what its node type has, and gets links of the other type", async () => {
  const { page, done } = await opened({}, shop);
  const [nodeType, price, age] = [/^node_type/, /^price/, /^age/].map((label) => page.getByLabel(label));
  for (const [chosen, has, hasNot, found] of [["item", price, age, /^u/], ["user", age, price, /^i/]]) {
    await nodeType.selectOption(chosen);
    await has.waitFor();
    await hasNot.waitFor({ state: "hidden" });
    await has.fill("7");
    await page.getByRole("button", { name: "Find its links" }).click();
    await page.waitForFunction((found) => new RegExp(found).test(document.querySelector("#links button.plain")?.textContent), found.source);
    const names = await page.locator("#links button.plain").allTextContents();
    assert.ok(names.length === 10 && names.every((name) => found.test(name)), names.join());
  }
  await checkAccessible(page);
  await done();
});

test("all of it works by keyboard", async () => {
  const { page, done } = await opened();
  await page.locator("#fields .chip").first().waitFor();
  const words = page.locator("#fields .chips + input").first();
  const chips = page.locator("#fields .chips").first().locator(".chip");
  const before = await chips.count();
  await words.focus();
  await page.keyboard.press("Backspace");
  assert.equal(await chips.count(), before - 1);
  await page.keyboard.type("a word nobody knows");
  await page.keyboard.press("Enter");
  assert.equal(await chips.count(), before);
  assert.match(await chips.last().getAttribute("class"), /unknown/);
  await page.keyboard.press("Enter");
  await page.locator("#notes li").waitFor();
  assert.match(await page.locator("#notes").textContent(), /1 value/);
  await page.locator("#near g[tabindex]").first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await done();
});

test("what is wrong is said where it is wrong, with what to do about it", async () => {
  const { page, done } = await opened();
  await page.waitForFunction(() => document.querySelectorAll("#links > li").length === 10);
  await page.getByText("Search options").click();
  assert.equal(await page.getByLabel("Popularity weight").inputValue(), "1");
  const count = page.getByLabel("How many links");
  for (const wrong of ["abc", "0", "-3", "1e9", "2.5", ""]) {
    await count.fill(wrong);
    await page.getByRole("button", { name: "Find its links" }).click();
    assert.equal(await count.getAttribute("aria-invalid"), "true", wrong);
    assert.match(await page.locator("#count-problem").textContent(), /a whole number from 1/);
    assert.equal(await page.locator("#links > li").count(), 10, "those of the last good request stay");
  }
  await count.fill("3");
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByRole("button", { name: "Find its links" }).click();
  await page.waitForFunction(() => document.querySelectorAll("#links > li").length === 3);
  assert.match(await page.locator("#notes").textContent(), /nothing is known/);
  await page.getByLabel("Look at a node").fill("<img src=x onerror=alert(1)>");
  await page.getByRole("button", { name: "Look", exact: true }).click();
  const alert = page.getByRole("alert");
  await alert.waitFor();
  assert.match(await alert.textContent(), /there is no node `<img src=x onerror=alert\(1\)>`/);
  assert.equal(await page.locator("img[src=x]").count(), 0);
  await done();
});

test("a server that is gone is told", async () => {
  const { page, done } = await found();
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Find its links" }).click();
  await page.getByRole("alert").waitFor();
  assert.match(await page.getByRole("alert").textContent(), /cannot be reached/);
  assert.equal(await page.getByRole("button", { name: "Find its links" }).isDisabled(), false);
  await done();
});

test("a node can be looked at, and its neighbours from there", async () => {
  const { page, done } = await found();
  await page.locator("#links button.plain").first().click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  const first = await dialog.getByRole("heading", { level: 2 }).textContent();
  await dialog.locator(".names button").first().click();
  await page.waitForFunction((first) => document.querySelector("#node-title").textContent !== first, first);
  await shot(page, "node");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByLabel("Look at a node").pressSequentially(first.slice(0, 3));
  await page.waitForFunction(() => document.querySelectorAll("#lookup-names option").length > 0);
  await done();
});

// A path that ends in `..` leads elsewhere, and objects have a `__proto__`.
for (const name of ["from the page", "..", "__proto__"]) {
  test(`a new node can be added, once: ${name}`, async () => {
    const { page, done } = await opened();
    await page.waitForFunction(() => document.querySelectorAll("#links > li").length === 10);
    await page.locator("#fields input").first().fill(name);
    await page.getByRole("button", { name: "Find its links" }).click();
    await page.waitForFunction((name) => document.querySelector("#status").textContent.includes(name), name);
    const add = page.getByRole("button", { name: "Add the node to the model" });
    await add.click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await add.click();
    await page.getByRole("button", { name: "Add it" }).click();
    await page.waitForFunction(() => /nodes now/.test(document.querySelector("#status").textContent));
    await page.getByLabel("Look at a node").fill(name);
    await page.getByRole("button", { name: "Look", exact: true }).click();
    await page.getByRole("dialog").waitFor();
    assert.equal(await page.locator("#node-title").textContent(), name);
    assert.match(await page.locator("#node-body").textContent(), /It has 0 links/);
    await done();
  });
}

for (const colorScheme of ["light", "dark"]) {
  test(`screen readers and weak eyes are thought of (${colorScheme})`, async () => {
    const { page, done } = await found({ colorScheme, reducedMotion: "reduce" });
    await page.locator("#links summary").first().click();
    await checkAccessible(page);
    if (colorScheme === "dark") await shot(page, "desktop-dark");
    await done();
  });
}

test("on a phone nothing is cut off", async () => {
  const { page, done } = await found({ viewport: { width: 375, height: 740 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= window, `${wide} pixels of content on ${window}`);
  await checkAccessible(page);
  await shot(page, "phone");
  await done();
});

test("nothing moves for those who ask for it", async () => {
  const { page, done } = await found({ reducedMotion: "reduce" });
  assert.equal(await page.locator(".ring").evaluate((ring) => getComputedStyle(ring).animationName), "none");
  await done();
});

test("a token is asked for, and a wrong one is told", async () => {
  const { page, done } = await opened({}, guarded);
  await page.getByLabel("Token").fill("this is the wrong one");
  await page.getByRole("button", { name: "Use it" }).click();
  await page.getByRole("alert").waitFor();
  assert.match(await page.getByRole("alert").textContent(), /another one/);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Use it" }).click();
  await page.getByRole("button", { name: "Find its links" }).waitFor();
  assert.equal(await page.getByLabel("Token").isVisible(), false);
  await done();
});

test("links of one relation and direction can be asked for, and say what they mean", async () => {
  const { page, done } = await opened({}, cited);
  await page.locator("#links > li").first().waitFor();
  await page.getByText("Search options").click();
  const which = page.getByLabel("Which links");
  assert.deepEqual(await which.locator("option").allTextContents(), ["of every relation, what it links to", "cites: what it links to", "cites: what links to it", "likes"]);
  const meanings = () => page.locator("#links small").allTextContents();
  assert.deepEqual(new Set(await meanings()), new Set(["cites: it links to", "likes"]));
  await which.selectOption({ label: "cites: what links to it" });
  await page.getByRole("button", { name: "Find its links" }).click();
  await page.waitForFunction(() => document.querySelector("#links small")?.textContent === "cites: links to it");
  assert.deepEqual(new Set(await meanings()), new Set(["cites: links to it"]));
  await checkAccessible(page);
  await shot(page, "directions");
  await done();
});
