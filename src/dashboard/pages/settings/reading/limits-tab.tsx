import { LIMIT_FIELDS } from "../../../../config/endpoints/given-limit.ts";
import { limitText } from "../../../../endpoint-limits/bound-text.ts";
import { LIMIT_KINDS } from "../../../../endpoint-limits/limit-kinds.ts";
import { fixed, formatSeconds, thousands } from "../../../../report/text/format.ts";
import { singleLine } from "../../../../report/text/printable.ts";
import type { GivenLimitList, Limiter } from "../../../api/settings-answers.ts";
import { localText } from "../../../design/times.ts";
import { SET_LIMIT } from "../commands.ts";
import { ReadList } from "./read-list.tsx";

type State = NonNullable<Limiter["state"]>;
const SOURCES = { given: "given", told: "told by the endpoint", found: "found by its refusals" } as const;

/** As the table of limits calls it: `4 at once`, `500 requests a minute`. */
function limitOf({ kind, limit }: { readonly kind: string; readonly limit: number }): string {
  const found = LIMIT_KINDS.find((each) => LIMIT_FIELDS[each] === kind);
  return found === undefined ? `${kind} ${thousands(limit)}` : limitText(found, limit);
}

/** What endpoints bear: what was found out, and what somebody said. */
export const LimitsTab = () => (
  <>
    <ReadList<Limiter>
      title="Limits of endpoints"
      path="/limits"
      columns={[
        {
          name: "Endpoint",
          cell: ({ api_base_url, api_key_var, model_class }) => (
            <>
              {singleLine(api_base_url)}
              <small>
                {singleLine(model_class)}, key in {singleLine(api_key_var)}
              </small>
            </>
          ),
        },
        { name: "Limits", cell: ({ state }) => (state === null ? "not known" : <Known state={state} />) },
        { name: "Now", cell: ({ state }) => (state === null ? null : <Now state={state} />) },
        {
          name: "Last minute",
          isNumber: true,
          cell: ({ state }) =>
            state === null ? null : (
              <>
                {thousands(state.minute.accepted)} of {thousands(state.minute.sent)}
                {state.minute.refused_share === null ? null : <small>{fixed(100 * state.minute.refused_share, 1)} % refused</small>}
              </>
            ),
        },
        {
          name: "Answers take",
          isNumber: true,
          cell: ({ state }) =>
            state?.latency_ms == null ? null : (
              <>
                {formatSeconds(state.latency_ms.p50 / 1_000)}
                <small>p95 {formatSeconds(state.latency_ms.p95 / 1_000)}</small>
              </>
            ),
        },
      ]}
      keyOf={({ limiter_id }) => limiter_id}
      none="No endpoint was called yet: limits are found when one refuses."
    />
    <ReadList<GivenLimitList["data"][number]>
      title="Limits that are given"
      path="/limits/given"
      columns={[
        { name: "Limit", cell: ({ name }) => singleLine(name) },
        {
          name: "What",
          cell: ({ limits }) =>
            limits.map(({ api_base_url, api_key_var, model, ...more }) => (
              <div key={`${api_base_url} ${api_key_var} ${model}`}>
                {Object.entries(more)
                  .flatMap(([kind, limit]) => (typeof limit === "number" ? [limitOf({ kind, limit })] : []))
                  .join(", ")}
                <small>{singleLine([api_base_url, api_key_var, model].filter((each) => each !== undefined).join(", "))}</small>
              </div>
            )),
        },
        { name: "By", cell: ({ updated_by }) => singleLine(updated_by) },
      ]}
      keyOf={({ name }) => name}
      none={
        <>
          No limit is given. In a terminal: <code>{SET_LIMIT}</code>
        </>
      }
    />
  </>
);

const Known = ({ state: { mode, limits } }: { readonly state: State }) =>
  mode === "open" || limits.length === 0 ? (
    <>none is known</>
  ) : (
    <>
      {limits.map(({ kind, limit, source }) => (
        <div key={kind}>
          {limitOf({ kind, limit })}
          <small>{SOURCES[source]}</small>
        </div>
      ))}
    </>
  );

const Now = ({ state: { in_flight, waiting, paused_until, down_since } }: { readonly state: State }) => (
  <>
    {thousands(in_flight)} under way{waiting === 0 ? "" : `, ${thousands(waiting)} wait`}
    {paused_until === null ? null : <small>paused until {localText(paused_until)}</small>}
    {down_since === null ? null : <small class="bad-text">down since {localText(down_since)}</small>}
  </>
);
