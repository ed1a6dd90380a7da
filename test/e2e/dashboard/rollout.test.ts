import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, type OpenedDashboard } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";
import { bombs, hostileRow, PAYLOADS } from "../../support/browser/hostile-rows.ts";

const browserPath = findBrowser();
const HOSTILE_NAME = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;

let place: DashboardPlace;
beforeAll(async () => {
  if (browserPath !== null) place = await DashboardPlace.start(browserPath);
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

/** The id of an evaluation with these rows. */
async function push(name: string, samples: readonly object[]): Promise<string> {
  const { evaluation_id: id } = await place.ask<{ evaluation_id: string }>("/evaluations/", {
    method: "POST",
    body: { name, model_name: name, environments: [{ id: "elsewhere" }] },
  });
  await place.ask(`/evaluations/${id}/samples`, { method: "POST", body: { samples } });
  await place.ask(`/evaluations/${id}/finalize`, { method: "POST", body: {} });
  await place.settled(id);
  return id;
}

const call = (id: string, name: string, given: object) => JSON.stringify({ id, name, arguments: JSON.stringify(given) });
/** A conversation with tools, of one of two attempts at an example. */
const conversation = (example: number, rollout: number) => ({
  ...{ example_id: example, rollout_index: rollout, reward: rollout, metrics: { exact: rollout }, exact: rollout, answer: "42", info: { source: "book" } },
  ...{ stop_condition: "finished", token_usage: { input_tokens: 900, output_tokens: 60 }, judge_response: "The judge says **yes**." },
  prompt: [
    { role: "system", content: "Be brief." },
    { role: "user", content: `Question ${example}: what is $6 \\cdot 7$?` },
  ],
  completion: [
    { role: "assistant", content: "", reasoning_content: "I had better look.", tool_calls: [call("a", "look_up", { query: "six times seven" })] },
    { role: "tool", tool_call_id: "a", content: "needle in the result" },
    { role: "assistant", content: `**It is** \`42\`, attempt ${rollout}. See [the book](https://book.example/page). The needle.` },
  ],
});

const findBarHasFocus = (page: Page): Promise<void> =>
  expect.poll(() => page.evaluate<boolean>("document.activeElement?.matches('.find-bar input') ?? false"), { timeout: PATIENCE_MS }).toBe(true);

describe.skipIf(browserPath === null)(`the page of a rollout ${NEEDS_BROWSER}`, { timeout: 4 * PATIENCE_MS }, () => {
  let id = "";
  const closing = async (work: () => Promise<void>): Promise<void> => {
    expect(await place.faultsOf(work)).toEqual([]);
  };
  const openRollout = (run: string, example: number, rollout: number, query = "", options = {}): Promise<OpenedDashboard> =>
    place.open(`evaluations/${run}/samples/${example}/${rollout}${query}`, options);
  const focused = ({ page }: OpenedDashboard): Promise<string> => page.evaluate<string>("document.activeElement?.getAttribute('aria-label') ?? ''");

  beforeAll(async () => {
    id = await push(
      "conversations",
      [0, 1, 2].flatMap((example) => [conversation(example, 0), conversation(example, 1)]),
    );
  }, 2 * PATIENCE_MS);

  it("shows messages rendered, calls beside their results, what is long folded, and every part of the row", () =>
    closing(async () => {
      const { page } = await openRollout(id, 1, 1);
      await page.getByRole("heading", { name: "Example 1, rollout 1" }).waitFor();
      await page.locator(".markdown strong", { hasText: "It is" }).waitFor();
      await page.locator("article.role-user math").waitFor();
      expect(await page.locator("article.role-system .fold").getAttribute("aria-expanded")).toBe("false");
      const tool = page.locator("article.tool-call");
      await tool.getByText("needle in the result").waitFor();
      expect(await tool.textContent()).toContain("six times seven");
      await page.getByText("Reasoning, 18 characters").click();
      await page.getByText("I had better look.").waitFor();
      expect(await page.getByText("900 + 60").count()).toBe(1);
      await page.getByLabel("Raw texts").check();
      await page.locator("pre", { hasText: "**It is** `42`" }).waitFor();
      expect(new URL(page.url()).searchParams.get("raw")).toBe("1");
      await page.getByLabel("Raw texts").uncheck();
      await page.getByRole("tab", { name: "Scores" }).click();
      await page.getByRole("rowheader", { name: "exact" }).waitFor();
      await page.locator(".markdown strong", { hasText: "yes" }).waitFor();
      await page.getByRole("tab", { name: "Usage" }).click();
      await page.getByText("token_usage").waitFor();
      await page.getByRole("tab", { name: "Info" }).click();
      await page.getByText('"book"').waitFor();
      await page.getByRole("tab", { name: "JSON" }).click();
      await page.getByText("stop_condition").waitFor();
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
      expect(file.suggestedFilename()).toBe(`rollout-${id}-1-1.json`);
    }));

  it("is walked through by keys alone: messages, calls, folds, search, rollouts, attempts, and back to the list", () =>
    closing(async () => {
      const dashboard = await openRollout(id, 1, 0, "?sort=reward&order=desc");
      const { page } = dashboard;
      await page.locator("article.role-assistant .markdown").waitFor();
      const press = (key: string): Promise<void> => page.keyboard.press(key);
      const isFocused = (label: string): Promise<void> => expect.poll(() => focused(dashboard), { timeout: PATIENCE_MS }).toBe(label);
      await press("j");
      await isFocused("system, message 0");
      await press("Enter");
      await page.getByText("Be brief.").last().waitFor();
      await press("Shift+G");
      await isFocused("assistant, message 4");
      await press("p");
      await isFocused("Call of look_up by message 2, result message 3");
      await press("g");
      await press("g");
      await isFocused("system, message 0");
      await press("/");
      await findBarHasFocus(page);
      await page.keyboard.type("needle");
      await page.getByText("2 in 2 messages").waitFor();
      await press("Enter");
      await isFocused("Call of look_up by message 2, result message 3");
      await press("n");
      await isFocused("assistant, message 4");
      await press("Escape");
      await page.getByRole("searchbox").waitFor({ state: "detached" });
      await press("f");
      await page.getByRole("dialog", { name: "Message 4: assistant" }).waitFor();
      await press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await press("r");
      await page.locator("pre", { hasText: "**It is** `42`, attempt 0" }).waitFor();
      await press("s");
      await page.getByRole("rowheader", { name: "exact" }).waitFor();
      await press("s");
      await press("l");
      await page.getByRole("heading", { name: "Example 1, rollout 1" }).waitFor();
      await press("h");
      await page.getByRole("heading", { name: "Example 1, rollout 0" }).waitFor();
      // By reward: attempts 1 of all examples, then attempts 0.
      await page.getByText("5 of 6").waitFor();
      await press("ArrowRight");
      await page.getByRole("heading", { name: "Example 2, rollout 0" }).waitFor();
      await press("ArrowLeft");
      await press("ArrowLeft");
      await page.getByRole("heading", { name: "Example 0, rollout 0" }).waitFor();
      await press("Escape");
      await page.waitForURL(/\/samples\?.*sort=reward/);
    }));

  it("has an address for each message, which a key copies", () =>
    closing(async () => {
      const dashboard = await openRollout(id, 2, 0, "#m4", { permissions: ["clipboard-read", "clipboard-write"] });
      const { page } = dashboard;
      await expect.poll(() => focused(dashboard), { timeout: PATIENCE_MS }).toBe("assistant, message 4");
      await page.keyboard.press("c");
      await page.getByText("Copied").waitFor();
      expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(`${place.service}/dashboard/evaluations/${id}/samples/2/0#m4`);
    }));

  it("opens a link of a text only after a question that shows where it leads", () =>
    closing(async () => {
      const { page } = await openRollout(id, 0, 0);
      await page.locator("button.outside-link", { hasText: "the book" }).click();
      const dialog = page.getByRole("dialog", { name: "Open this link?" });
      await dialog.getByText("book.example", { exact: true }).waitFor();
      const link = dialog.getByRole("link", { name: "Open book.example" });
      expect([await link.getAttribute("href"), await link.getAttribute("target"), await link.getAttribute("rel")]).toEqual([
        ...["https://book.example/page", "_blank", "noreferrer noopener"],
      ]);
      expect(await barriersIn(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      expect(new URL(page.url()).pathname).toBe(`/dashboard/evaluations/${id}/samples/0/0`);
    }));

  it("waits for a rollout of a running run, and says of others what is wrong", () =>
    closing(async () => {
      place.model.setScript({ answer: "reverse", latency_ms: 3_000 });
      const run = await place.create({ name: "under way", examples: 2 });
      const { page } = await place.open(`evaluations/${run}/samples/1/0`, {}, /404/);
      await page.getByText("This rollout is not there yet.").waitFor();
      place.model.setScript({ answer: "reverse" });
      await page.locator("article.role-assistant").waitFor();
      await place.settled(run);
      await page.goto(`${place.service}/dashboard/evaluations/${run}/samples/999/0`);
      await page.getByText("There is no such rollout, or not yet.").waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await page.goto(`${place.service}/dashboard/evaluations/${run}/samples/x/0`);
      await page.getByText("There is no page at this address.").waitFor();
    }));

  it("has no barriers in both themes and at three widths, and stays within the screen", () =>
    closing(async () => {
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [390, 820, 1_440]) {
          const { page } = await openRollout(id, 1, 1, "", { colorScheme, viewport: { width, height: 800 } });
          await page.locator("article.role-user math").waitFor();
          for (const tab of ["Messages", "Scores", "JSON"]) {
            await page.getByRole("tab", { name: tab }).click();
            expect(await barriersIn(page), `${colorScheme} ${width} ${tab}`).toEqual([]);
            expect(await page.evaluate<number>("document.documentElement.scrollWidth"), `${width} ${tab}`).toBeLessThanOrEqual(width);
          }
        }
    }));

  it("draws what judges were shown and said whatever another program made of it, and the first of very many", () =>
    closing(async () => {
      const row = (example: number, more: object) => ({ example_id: example, reward: 1, prompt: [], completion: [], ...more });
      const usage = { judge_usage: { requests: 2, input_tokens: 9, output_tokens: 2 } };
      const run = await push("judged elsewhere", [
        row(0, { ...usage, judge_response: { "Is **this** right?": "<think>hm, hm</think>\n\nIt _is_." } }),
        row(1, { judge_response: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`question ${at}`, `answer ${at}`])) }),
        row(2, { judge_response: ["first of a list", { verdict: 7 }] }),
        row(3, { judge_response: { score: 4, of: [1, 2] } }),
        row(4, usage),
        row(5, { judge_response: {} }),
        row(6, { judge_response: { "Vote.": ["for", "against"] } }),
      ]);
      const shown = async (example: number): Promise<Page> => (await openRollout(run, example, 0, "?tab=scores")).page;
      const one = await shown(0);
      await one.locator(".judgements .role-user strong", { hasText: "this" }).waitFor();
      await one.locator(".judgements .role-assistant em", { hasText: "is" }).waitFor();
      await one.getByText("Reasoning, 6 characters").waitFor();
      await one.getByLabel("Raw texts").check();
      await one.locator("pre", { hasText: "Is **this** right?" }).waitFor();
      const many = await shown(1);
      await many.getByText("20,000 keys").click();
      await many.getByText("Question 20 of 20,000").waitFor();
      expect(await many.locator(".judgements > li").count()).toBe(20);
      await many.getByRole("button", { name: "Show 20 more of 19,980" }).click();
      await many.getByText("answer 39").waitFor();
      const list = await shown(2);
      await list.getByText("first of a list").waitFor();
      await list.getByText("verdict").waitFor();
      await (await shown(3)).getByText("score").last().waitFor();
      const none = await shown(4);
      await none.getByText("--state-columns judge_response").waitFor();
      // Nothing plays it again that was not played here.
      expect(await none.getByRole("link", { name: "Again with changes, keeping it" }).count()).toBe(0);
      await (await shown(6)).getByText("The judge said, 2 of 2").waitFor();
      await (await shown(5)).getByText("no answer of a judge was kept").waitFor();
    }));

  it("runs nothing of what stands in a row, loads nothing, and leads nowhere", () =>
    closing(async () => {
      const run = await push(HOSTILE_NAME, [hostileRow()]);
      for (const query of ["", "?raw=1", "?tab=scores", "?tab=info", "?tab=json", "?tab=usage"]) {
        const { page } = await openRollout(run, 0, 0, query, { viewport: { width: 1_280, height: 12_000 } });
        await page.getByRole("tabpanel").waitFor();
        if (query === "") await expect.poll(() => page.locator(".markdown").count(), { timeout: PATIENCE_MS }).toBeGreaterThanOrEqual(PAYLOADS.length);
        if (query === "?raw=1") await page.locator(".mark", { hasText: "\\u{202e}" }).first().waitFor();
        for (let depth = 0; depth < 3; depth++) {
          await page.evaluate("for (const each of document.querySelectorAll('main details:not([open]) > summary')) each.click()");
          await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
        }
        expect(await page.title()).toBe("Example 0 (<script>document.title='taken'</script>), rollout 0 · Edgewise");
        expect(
          await page
            .locator("img, script:not([src]), iframe, svg, object, form, main a[href^='javascript'], main a[href^='data'], [onerror], [onclick]")
            .count(),
          query,
        ).toBe(0);
        expect(await page.locator("main a[href^='http']").count(), query).toBe(0);
        expect(await page.evaluate<string>("document.body.innerText"), query).not.toMatch(/(?![\t\n\r])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u);
      }
    }));

  it("stays usable with texts that take a parser long, millions of characters, and a hundred thousand messages", () =>
    closing(async () => {
      const run = await push("bombs", bombs());
      for (const [example, seen] of [
        [0, "Could not be rendered: as it is written."],
        [1, "more of"],
        [2, "user, message 0"],
      ] as const) {
        const dashboard = await openRollout(run, example, 0);
        const { page } = dashboard;
        await page.locator("article").first().waitFor();
        await page.keyboard.press("j");
        await expect.poll(() => focused(dashboard), { timeout: PATIENCE_MS }).toBe("user, message 0");
        if (example < 2) await page.getByText(seen).first().waitFor();
      }
      const dashboard = await openRollout(run, 2, 0);
      const { page } = dashboard;
      await page.locator("article").first().waitFor();
      // Dragged into the middle: what is seen is from there, and stands in the middle of the screen.
      const inSight = () =>
        page.evaluate<string>("document.elementFromPoint(innerWidth * 0.7, innerHeight / 2)?.closest('article')?.getAttribute('aria-label') ?? ''");
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
      await expect.poll(inSight, { timeout: PATIENCE_MS }).toMatch(/ message (49|50)\d{3}$/);
      await page.evaluate("scrollTo(0, 0)");
      await expect.poll(inSight, { timeout: PATIENCE_MS }).toMatch(/ message \d$/);
      await page.keyboard.press("Shift+G");
      await expect.poll(() => focused(dashboard), { timeout: PATIENCE_MS }).toBe("assistant, message 99999");
      expect(await page.locator("article").count()).toBeLessThan(100);
      await page.keyboard.press("/");
      await findBarHasFocus(page);
      await page.keyboard.type("number 77777");
      await page.getByText("1 in 1 message", { exact: true }).waitFor();
      await page.keyboard.press("Enter");
      await expect.poll(() => focused(dashboard), { timeout: PATIENCE_MS }).toBe("assistant, message 77777");
    }));
});
