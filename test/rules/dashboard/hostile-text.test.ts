import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasMathematics, formulaAt } from "../../../src/dashboard/design/text/markdown/mathematics-rule.ts";
import { markdownHtml } from "../../../src/dashboard/design/text/markdown/markdown-html.ts";
import { mathematicsHtml } from "../../../src/dashboard/design/text/markdown/mathematics-html.ts";
import { markedParts } from "../../../src/dashboard/design/text/marks.ts";
import { outsideLink } from "../../../src/dashboard/design/text/safe-link.ts";
import { FIRST_CHARACTERS, shownPieces, STEP_CHARACTERS } from "../../../src/dashboard/design/text/text-steps.ts";

const hostile = fc.string({
  unit: fc.oneof(
    fc.string({ unit: "binary", maxLength: 3 }),
    fc.constantFrom(..."*_`$\\()[]{}<>!#|\n>-", "<script>", "![a](", "](javascript:", "\\boxed{", "$$", "\u202e", "\ud800"),
  ),
  maxLength: 200,
});

describe("a link of a text", () => {
  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>1</script>",
    "vbscript:x",
    "blob:https://a/b",
    "file:///etc/passwd",
    "/dashboard/",
    "//evil.example/",
    "#m1",
    "https://edgewise.example@evil.example/",
    "https://user:password@evil.example/",
    "https://",
    `https://a/${"x".repeat(2_000)}`,
  ])("leads nowhere: %s", (address) => {
    expect(outsideLink(address)).toBeNull();
  });

  it("shows where it leads as the browser reads it", () => {
    expect(outsideLink("https://Example.COM:8443/a?b#c")).toEqual({ href: "https://example.com:8443/a?b#c", host: "example.com:8443" });
    expect(outsideLink("https://аpple.com/")?.host).toBe("xn--pple-43d.com");
    expect(outsideLink("mailto:a@b.example")?.host).toBe("a@b.example");
    fc.assert(fc.property(hostile, (address) => outsideLink(address) === null || /^(?:https?|mailto):/.test(outsideLink(address)?.href ?? "")));
  });
});

describe("a text as Markdown", () => {
  const html = (text: string): string => markdownHtml(text)?.html ?? "too much";

  it("makes no markup of markup, loads no image, and sets no style", () => {
    expect(html("<script>alert(1)</script> <b onclick=x>b</b>")).toBe("<p>&lt;script&gt;alert(1)&lt;/script&gt; &lt;b onclick=x&gt;b&lt;/b&gt;</p>\n");
    expect(html("![a *b*](https://evil.example/x.png)")).toBe("<p><em>a b [image not loaded: evil.example]</em></p>\n");
    expect(html("[a](javascript:alert(1))")).toBe("<p>[a](javascript:alert(1))</p>\n");
    expect(html("|a|\n|:-:|\n|b|")).not.toContain("style");
    expect(html("# A\n### B")).toBe('<p data-level="1">A</p>\n<p data-level="3">B</p>\n');
    const elements = new Set([
      "p",
      "br",
      "hr",
      "em",
      "strong",
      "s",
      "code",
      "pre",
      "blockquote",
      "ul",
      "ol",
      "li",
      "a",
      "table",
      "thead",
      "tbody",
      "tr",
      "th",
      "td",
    ]);
    fc.assert(
      fc.property(hostile, (text) => {
        const made = html(text);
        for (const [, name = ""] of made.matchAll(/<\/?([a-zA-Z][^\s>/]*)/g)) expect(elements).toContain(name);
        for (const [, name = ""] of made.matchAll(/<[a-z]+\s+([a-z-]+)=/g))
          expect(["href", "start", "class", "title", "data-math", "data-level"]).toContain(name);
        expect(made).not.toMatch(/href="\s*(?:javascript|vbscript|data):/i);
      }),
      { numRuns: 500 },
    );
  });

  it("gives up what a page could not bear", () => {
    expect(markdownHtml("`a` ".repeat(20_000))).toBeNull();
    expect((html(">".repeat(3_000)).match(/<blockquote>/g) ?? []).length).toBeLessThanOrEqual(20);
  });

  it("finds formulas, and no prices", () => {
    expect(formulaAt("$x^2$ and", 0)).toEqual({ tex: "x^2", display: false, end: 5 });
    expect(formulaAt("\\[ a \\]", 0)).toEqual({ tex: " a ", display: true, end: 7 });
    expect(formulaAt("\\boxed{\\frac{1}{2}} b", 0)).toEqual({ tex: "\\boxed{\\frac{1}{2}}", display: false, end: 19 });
    expect(formulaAt("$5 and $6", 0)).toBeNull();
    expect(formulaAt("\\boxed{never closed", 0)).toBeNull();
    expect(markdownHtml("It is $x$.")?.formulas).toEqual([{ tex: "x", display: false }]);
    expect(hasMathematics("plain")).toBe(false);
    fc.assert(fc.property(hostile, fc.nat(200), (text, at) => formulaAt(text, at) === null || (formulaAt(text, at)?.end ?? 0) <= text.length));
  });

  it("ends a formula that grows without end, and lets none name an address or a style", () => {
    expect(mathematicsHtml({ tex: "\\def\\a{\\a\\a}\\a", display: false })).toBeNull();
    for (const tex of ["\\href{javascript:alert(1)}{x}", "\\includegraphics{https://evil.example/x.png}", "\\class{x}{y}", "\\style{color:red}{x}"])
      expect(mathematicsHtml({ tex, display: false }) ?? "").not.toMatch(/href=|src=|style=/);
    expect(mathematicsHtml({ tex: "\\color{red} x", display: true })).not.toMatch(/style=/);
    expect(mathematicsHtml({ tex: "\\frac{1}{2}", display: false })).toContain("<mfrac");
  });
});

describe("a text as it is", () => {
  it("names what nobody sees, and changes nothing else", () => {
    expect(markedParts("a\u202eb\u0000\u0000c")).toEqual([
      { at: 0, text: "a" },
      { at: 1, name: "\\u{202e}", count: 1 },
      { at: 2, text: "b" },
      { at: 3, name: "\\u{0000}", count: 2 },
      { at: 5, text: "c" },
    ]);
    expect(markedParts("👩‍🔬\n\tא")).toEqual([{ at: 0, text: "👩‍🔬\n\tא" }]);
    expect(markedParts("\u{e0041}\ud800")).toMatchObject([{ name: "\\u{e0041}" }, { name: "\\u{d800}" }]);
    fc.assert(
      fc.property(hostile, (text) => {
        const parts = markedParts(text);
        expect(
          parts.map((part) => ("text" in part ? part.text : String.fromCodePoint(Number.parseInt(part.name.slice(3, -1), 16)).repeat(part.count))).join(""),
        ).toBe(text);
        for (const part of parts) if ("text" in part) expect(part.text).not.toMatch(/(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
    // So many marks are text: a page has no element for each.
    expect(markedParts("\u202ea".repeat(100_000)).length).toBeLessThan(5_000);
  });

  it("comes in steps that make up the whole, and halves no character", () => {
    const text = "😀".repeat(FIRST_CHARACTERS);
    const pieces = shownPieces(text, 5);
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
    expect(pieces[0]?.text).toHaveLength(FIRST_CHARACTERS);
    expect(shownPieces(`a${text}`, 0)[0]?.text).toHaveLength(FIRST_CHARACTERS - 1);
    expect(shownPieces("x".repeat(10_000_000), 1).map((piece) => piece.text.length)).toEqual([FIRST_CHARACTERS, STEP_CHARACTERS]);
    expect(shownPieces("", 3)).toEqual([]);
  });
});
