/** `docs/environment-protocol.md`, made from the schemas of its messages: `node tools/protocol-page.ts` writes it, a test compares. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { TO_ENGINE } from "../src/environment-protocol/to-engine.ts";
import {
  HTTP_BEAT_MS,
  HTTP_BEGIN_MS,
  HTTP_POST_MS,
  HTTP_REPEAT_MS,
  HTTP_SILENCE_MS,
  LINKED_OPENING_MS,
  MAX_BATCH_CHARACTERS,
  MAX_WALLED_SANDBOX_CALLS,
  MAX_WALLED_SANDBOXES,
  MIB,
} from "../src/limits.ts";
import { TO_ENVIRONMENT } from "../src/environment-protocol/to-environment.ts";
import { PROTOCOL_VERSION } from "../src/environment-protocol/values.ts";

const HEAD = `# Environments elsewhere

How an engine and an environment speak that are not in one place: an isolate of its own, a process, another machine. One protocol for all of them, version
${PROTOCOL_VERSION}. This page is made from the schemas of the messages by \`node tools/protocol-page.ts\`; its rooms are
\`src/environment-protocol/\` (messages), \`src/environment-session/\` (the environment's side, with the library) and \`src/walled/\` (the engine's).

## How it goes

Messages are JSON objects with a \`type\`. Each side sends batches, lists of messages, in their order; a batch has about 4 MiB of text at most, but for a single
message that is larger. How a batch gets to the other side is the transport's affair, and so is opening the channel and saying that it broke.
A channel carries one conversation. The engine begins it with one of four messages, which name the version; the environment refuses another version by name.

- \`describe\`, \`check\`, \`resolve_args\`: one question, one answer, and the channel is closed. No key and no data is there.
- \`open\`: the environment is loaded with its arguments, and with the values of those keys that it declares and of the secrets it was given. Then, as often as is wanted and at once:
  \`read\` gives examples by pages; \`play\` has rollouts of one example played and scored; \`score\` has rows scored. \`close\` ends it.

The environment's side plays whole units: rollouts, their retries and their deadline, scores. The engine's side has everything else: clients and keys of models,
limits on calls, retries of calls, storage, rows. So the environment asks:

- \`call\` for an answer of a model, of the one under evaluation or of another that it names by its address and the variable of its key. It sees no key. The model's name is the run's for the
  model under evaluation. \`permitted\` says when the call holds its permit, from where on its time counts; where the answer comes at once, the answer says it. \`waits\` says when it
  has to be sent again, and when it was: [that time](retries.md#waiting-and-time) is not the rollout's either.
- \`data\` for rows of a data set, so that it needs no readers of files and no network.
- \`sandbox\` for something to be done with a sandbox: made, waited for, a command run, a file put into it or taken out, ended. The driver is the run's, and so are its key and its
  sandboxes: no other sandbox is known here. \`cancel_sandbox\` ends a command that nobody waits for any more.

A rollout crosses as the text of a [kept state](decisions/kept-states.md), or, where another library played it, at its end alone as the row that this wrote (\`row\` of \`ended\`), which stays
byte for byte with our keys behind its own. What can be kept meanwhile is told: \`generated\`, \`scored\`, \`turn\`; the newest word
of a rollout counts, and what is over within half a second is told once, as \`ended\`. Signals of the engine have numbers: \`abort\` ends everything that was begun with one. A number holds while a unit that names it is open.

## What is believed

The environment's code is nobody's. The engine's side checks each message, and

- what is no message, names what there is not, answers what nobody asked for, or is the second with its number ends the conversation: all that was open in it ends as an error of
  the environment (\`environment_error\`) that says what was wrong, and the next example opens the channel anew;
- a state or a row that is none, or has a reward, metrics, times, an error or messages that are none, is that rollout's error, and never a reward of 0;
- which example and which rollout it is, the name of the model under evaluation, what judges took and whether a server refused for good the engine says: an error code that ends runs is taken from the
  environment only where a server gave it to a call of that unit;
- a rollout has 64 calls under way at most, a request 16 MiB, all requests of a conversation 64 MiB, a state 3 MiB, an environment 16 other models and 8 data sets at once, 64 in all. More is refused to the caller; a conversation has ${MAX_WALLED_SANDBOXES} sandboxes and ${MAX_WALLED_SANDBOX_CALLS} uses of them under way, each of its own run; 64 MiB wait for an isolate or a server that does not take what it is sent, and then it is given up;
- a unit of which nothing is heard while no call is under way ends after ten minutes (\`WALLED_SILENCE_MS\`), and so does a reading; one that goes on 40 s
  after its deadline ends as \`timeout\`; one that is told to end has ten seconds;
- uploads, and what the engine's token opens on the Hugging Face Hub, are read for it where the arguments of the run name them.

A channel that broke ends its units in the same way, as \`sandbox_error\` where that is nobody's fault: such rollouts are drawn again on resume.

## Over HTTP

How batches cross where the environment is a process with an address ([decision](decisions/environments-by-http.md), \`src/environment-http/\`). The engine asks, the
environment's server answers. Every request has \`Authorization: Bearer TOKEN\`, and is refused with 401 where that is not the server's; redirects are not followed. Errors are
\`{"error":{"code","message"}}\`. Paths stand below the server's address, which may have a path itself.

- \`GET /health\` gives \`{"protocol":${PROTOCOL_VERSION},"environment":"id","version":"1","conversations":0,"units":0}\`: what is under way there.
- \`POST /conversations\` begins a conversation. Answered with 200 and \`application/x-ndjson\`, the headers and the first line at once: \`{"conversation":"NAME","v":${PROTOCOL_VERSION}}\`, where nobody can guess the name.
  Each further line is a batch of the environment's, an array of messages, of ${MAX_BATCH_CHARACTERS / MIB} Mi characters at most. The end of the answer is the end of the conversation, whoever ends it.
- \`POST /conversations/NAME?n=N\` has a batch of the engine's as its body, and is answered with 204 when it was taken. N counts from 1. One that was taken already is answered with 204 and not taken again, one that
  is not the next with 409, and with 404 where the conversation is over. The engine has one under way at a time, of about 1 MiB or of one message that is larger, and sends it again where it
  does not know what became of it (no answer within ${HTTP_POST_MS / 1_000} s, 408, 425, 429, 5xx), for ${HTTP_REPEAT_MS / 1_000} s.
- The empty batch \`[]\` says that one is there. The environment's side sends a line at least every ${HTTP_BEAT_MS / 2_000} s, whatever its code is busy with; the engine ends a conversation in which nothing came for ${HTTP_SILENCE_MS / 1_000} s.
  The engine says something at least every ${(HTTP_BEAT_MS * 1.5) / 1_000} s; a server that heard nothing for a minute ends the conversation and all its units.
- A conversation that begins within ${HTTP_BEGIN_MS / 1_000} s is one; \`open\` and the other first messages may take ${LINKED_OPENING_MS / 60_000} minutes.

## From the engine
`;

type Schemas = Readonly<Record<string, z.ZodType>>;
const shared: Record<string, unknown> = {};

/** Without what every schema says, and with the parts that several have put aside. */
function schemaOf(schema: z.ZodType): object {
  const { $schema: _, $defs = {}, description: __, additionalProperties: ___, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  for (const [name, part] of Object.entries($defs)) {
    const { id: _id, $schema: _schema, additionalProperties: _more, ...own } = part as Record<string, unknown>;
    shared[name] = own;
  }
  return rest;
}

const fence = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`;

const section = (schemas: Schemas): string =>
  Object.entries(schemas)
    .map(([name, schema]) => `\n### ${name}\n\n${schema.description ?? ""}\n\n${fence(schemaOf(schema))}`)
    .join("");

/** The page. */
export function protocolPage(): string {
  const engine = section(TO_ENVIRONMENT);
  const environment = section(TO_ENGINE);
  const parts = Object.entries(shared)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `\n### ${name} (part)\n\n${fence(schema)}`)
    .join("");
  return `${HEAD}${engine}\n## From the environment\n${environment}\n## Parts\n${parts}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(new URL("../docs/environment-protocol.md", import.meta.url), protocolPage());
