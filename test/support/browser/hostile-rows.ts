/** What a model, a data set or an environment may have written into a row to harm who reads it. */

export const PAYLOADS: readonly string[] = [
  "<script>document.title='taken'</script>",
  `<img src=x onerror="document.title='taken'">`,
  `<svg onload="document.title='taken'"><script>document.title='taken'</script></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror="document.title='taken'">`,
  `<iframe srcdoc="<script>parent.document.title='taken'</script>"></iframe>`,
  "[a](javascript:document.title='taken') [b](JaVaScRiPt:alert(1)) [c](data:text/html,<script>alert(1)</script>) <javascript:alert(1)>",
  "[relative](/sign-out) [same](#m0) [other](//evil.example/)",
  "![picture](https://evil.example/a.png) ![data](data:image/svg+xml;base64,PHN2Zy8+) ![][r]\n\n[r]: https://evil.example/r.png",
  "[link](https://evil.example/) <https://evil.example/auto> https://evil.example/bare",
  `$\\href{javascript:alert(1)}{x}$ $\\includegraphics{https://evil.example/x.png}$ $\\style{background:url(https://evil.example/s)}{x}$ $\\color{red}x$`,
  "\u202egnp.exe\u202c \u2066\u0000\u0007\u001b]8;;https://evil.example\u0007x\u001b]8;;\u0007 \u{e0041}\u{e0042} \u200b",
  `{{constructor.constructor('document.title=1')()}} \${document.title='taken'} </textarea></pre></title>`,
  `| <b> | [x](javascript:1) |\n|:-:|--:|\n| <script>1</script> | \`</code><script>\` |`,
];

/** Names that a parser of JSON or an object may trip over; `__proto__` comes as text. */
const NAMES: readonly string[] = ["constructor", "toString", "<img src=x onerror=alert(1)>", "a\u202eb", ...PAYLOADS.slice(0, 3)];

/** One row with every payload in every place that a page of it shows. */
export function hostileRow(): object {
  const all = PAYLOADS.join("\n\n");
  const named = Object.fromEntries(NAMES.map((name) => [name, all]));
  return {
    example_id: PAYLOADS[0],
    task: all,
    reward: 0.5,
    metrics: Object.fromEntries(NAMES.map((name, index) => [name, index])),
    answer: all,
    info: { ...named, nested: [named] },
    error: { error: PAYLOADS[1], error_chain_repr: all, error_chain_str: all, code: PAYLOADS[0] },
    stop_condition: PAYLOADS[1],
    judge_response: Object.fromEntries(PAYLOADS.map((payload) => [payload, payload])),
    judge_notes: all,
    judge_votes: PAYLOADS,
    judge_usage: { requests: 1, input_tokens: PAYLOADS[0], output_tokens: -1, cost: all },
    token_usage: { input_tokens: all, output_tokens: [] },
    timing: all,
    tool_defs: [PAYLOADS[0], { function: { name: PAYLOADS[1] } }],
    state_of_mind: all,
    [PAYLOADS[2] ?? ""]: all,
    prompt: PAYLOADS.map((content) => ({ role: "user", content })),
    completion: [
      ...PAYLOADS.map((content) => ({ role: "assistant", content, reasoning_content: content, [PAYLOADS[0] ?? ""]: content })),
      {
        role: PAYLOADS[0],
        content: [
          { type: PAYLOADS[1], value: all },
          { type: "image_url", image_url: { url: "https://evil.example/i.png" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: PAYLOADS.map((name, index) => JSON.stringify({ id: `c${index}`, name, arguments: JSON.stringify({ [name]: name }) })),
      },
      ...PAYLOADS.map((content, index) => ({ role: "tool", tool_call_id: `c${index}`, content })),
    ],
  };
}

/** Rows that are too much: texts that grow in a parser, one text of 7 million characters, and 100,000 messages. */
export function bombs(): readonly object[] {
  const row = (example: number, completion: readonly object[]) => ({ example_id: example, reward: 0, prompt: [], completion });
  const texts = [
    "*a_".repeat(20_000),
    `${">".repeat(3_000)} quoted`,
    "`a` ".repeat(25_000),
    `$${"\\def\\a{\\a\\a}\\a"}$ $${"{".repeat(1_500)}$ ${"$x$ ".repeat(2_000)}`,
    `${"[".repeat(20_000)}a`,
    `${"- ".repeat(2_000)}a`,
    `|${"a|".repeat(2_000)}\n|${"-|".repeat(2_000)}\n${`|${"b|".repeat(200)}\n`.repeat(100)}`,
    "\u202ea".repeat(20_000),
  ];
  return [
    row(
      0,
      texts.map((content) => ({ role: "user", content })),
    ),
    row(1, [{ role: "user", content: "word ".repeat(1_400_000) }]),
    row(
      2,
      Array.from({ length: 100_000 }, (_, number) => ({ role: number % 2 === 0 ? "user" : "assistant", content: `number ${number}` })),
    ),
  ];
}
