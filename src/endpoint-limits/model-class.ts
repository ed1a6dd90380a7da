import { SNAPSHOT_DAY } from "../config/dated-model.ts";
import { parseUrl } from "../config/endpoints/addresses.ts";
import { providerOfHost } from "../config/endpoints/providers.ts";

/**
 * Models that share a limit at their provider, as far as their names tell. Two names of one limit that are taken for two make two Limiters that find it
 * against each other, with refusals; two limits that are taken for one leave some of it unused. So only what providers say themselves is put together:
 *
 * - snapshots of a model (`gpt-4o-2024-08-06`), and its newest one (`-latest`): OpenAI's refusals name the model without the date ("for limit gpt-4o");
 * - OpenAI's fine-tuned models count on the model that they are made of (developers.openai.com/api/docs/guides/rate-limits, and the page of a
 *   project's limits: what is set for `gpt-4.1` holds for names that begin with `ft:gpt-4.1`);
 * - Anthropic's Opus 4 to 4.8 have one limit together, and so have all Sonnet 4; other generations have their own
 *   (platform.claude.com/docs/en/api/rate-limits, notes below the tables).
 *
 * Which other families share one stands in the settings of each organisation at OpenAI, where nobody can ask for it.
 */
export function modelClass(base_url: string, model: string): string {
  const named = withoutDate(baseOfTuned(model.trim()));
  return isAnthropic(base_url) ? anthropicClass(named) : named;
}

/** `ft:gpt-4.1-mini-2025-04-14:acme:sums:AbC1` is made of the part behind the first colon. */
const baseOfTuned = (model: string): string => /^ft:([^:]+):/.exec(model)?.[1] ?? model;

/** A day, `-latest`; of GPT's old names `-0613` (month and day). */
const DATES = [SNAPSHOT_DAY, /-latest$/, /(?<=(?:^|\/)gpt-.*)-(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/];

function withoutDate(model: string): string {
  for (const date of DATES) {
    const bare = model.replace(date, "");
    if (bare !== model && bare !== "") return bare;
  }
  return model;
}

const isAnthropic = (base_url: string): boolean => providerOfHost(parseUrl(base_url)?.hostname ?? "") === "anthropic";

/** `claude-opus-4-6`, `claude-opus-4` → `claude-opus-4.x`. */
const anthropicClass = (model: string): string => model.replace(/^(claude-(?:opus|sonnet)-4)(?:-\d+)?$/, "$1.x");
