/* In a page, before its own scripts. */

/** Keeps what stands in no element: texts that are painted, and those that are put into the clipboard. */
globalThis.watch = function watch() {
  const kept = { painted: [], copied: [] };
  Object.assign(window, { kept });
  const paint = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
    kept.painted.push(text);
    paint.call(this, text, ...more);
  };
  Object.defineProperty(navigator, "clipboard", {
    value: {
      writeText: async (text) => {
        kept.copied.push(text);
      },
    },
  });
};

/** `hostile`, `known` and `named`: of hostile-answers.ts. */
globalThis.infect = function infect({ hostile, known, named }) {
  // What names something by its place: ids, digests, days and numbers.
  const plain = /^(?:|[0-9a-f]{8}|(?:v\d:|sha256:)?[0-9a-f]{16,}|msg_\w+|[\d.:TZ+-]+)$/;
  const bad = (value, path) => {
    const own = path.at(-1) ?? "";
    if (typeof value === "string") return known.includes(own) || plain.test(value) ? value : `«${path.join(".")}»${value}${hostile}`;
    if (Array.isArray(value)) return value.map((each) => bad(each, path));
    if (typeof value !== "object" || value === null) return value;
    const isNamed = named.includes(own);
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) =>
        isNamed ? [`«${path.join(".")}.*»${name}${hostile}`, bad(each, [...path, "*"])] : [name, bad(each, [...path, name])],
      ),
    );
  };
  const badJson = (text) => {
    try {
      return JSON.stringify(bad(JSON.parse(text), []));
    } catch {
      return text;
    }
  };
  const badLine = (type) => (line) =>
    type.startsWith("text/event-stream")
      ? line.startsWith("data:")
        ? `data: ${badJson(line.slice(5))}`
        : line
      : /^\s*[{[]/.test(line)
        ? badJson(line)
        : line.trim() === ""
          ? line
          : `${line}«text»${hostile.replaceAll("\n", "")}`;
  const lines = (type) => {
    let rest = "";
    const change = badLine(type);
    return new TransformStream({
      transform(text, controller) {
        const all = (rest + text).split("\n");
        rest = all.pop() ?? "";
        for (const line of all) controller.enqueue(`${change(line)}\n`);
      },
      flush(controller) {
        if (rest !== "") controller.enqueue(change(rest));
      },
    });
  };
  const ask = window.fetch.bind(window);
  window.fetch = async (input, init) => {
    const response = await ask(input, init);
    const type = response.headers.get("content-type") ?? "";
    if (!String(input).includes("/api/v1/") || response.body === null || /octet-stream/.test(type)) return response;
    const { status, headers } = response;
    if (type.startsWith("application/json")) return new Response(badJson(await response.text()), { status, headers });
    const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(lines(type)).pipeThrough(new TextEncoderStream());
    return new Response(body, { status, headers });
  };
};

/** Reads all that a page shows, says by attributes, paints and has copied. */
globalThis.seenHere = function seenHere() {
  const acting = /(?![\t\n\r])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
  const faults = [];
  const { kept } = window;
  const texts = [
    ["title", document.title],
    ["text", document.body.textContent],
    ...kept.painted.map((text) => ["painted", text]),
    ...kept.copied.map((text) => ["copied", text]),
  ];
  for (const element of document.querySelectorAll("body *")) {
    const name = element.localName;
    if (["img", "iframe", "object", "embed", "base", "meta"].includes(name) || (name === "script" && !element.hasAttribute("src"))) faults.push(`<${name}>`);
    for (const { name: attribute, value } of element.attributes) {
      if (attribute.startsWith("on")) faults.push(`${name} ${attribute}`);
      // What a choice stands for is sent as it is, and shown nowhere.
      if (attribute !== "value") texts.push([`${name} ${attribute}`, value]);
    }
    if (element instanceof HTMLAnchorElement && element.hasAttribute("href") && element.origin !== location.origin) faults.push(`leads to ${element.href}`);
  }
  for (const [where, text] of texts) {
    for (const { 0: found, index } of text.matchAll(acting)) {
      const before = text.slice(0, index);
      faults.push(`${where}: ${JSON.stringify(found)} of ${before.slice(before.lastIndexOf("«")).slice(0, 60)}`);
    }
  }
  if (document.title === "taken") faults.push("taken");
  const all = texts.map(([, text]) => text).join("\n");
  return { places: [...new Set([...all.matchAll(/«([^»]+)»/g)].map(([, place = ""]) => place))], faults: [...new Set(faults)], copied: kept.copied };
};
