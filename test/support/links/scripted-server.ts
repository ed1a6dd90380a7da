/**
 * A server of environments as any other language would write one: the transport of docs/environment-protocol.md and its messages, and nothing of ours. It plays one question for
 * one answer: the model's is right where it is the question turned round. In Node and in workerd the same.
 */

type Message = Readonly<Record<string, unknown>> & { readonly type: string };

export interface Script {
  readonly token: string;
  /** As `described` says it. */
  readonly version?: string;
  readonly source?: string;
  readonly args?: readonly object[];
  readonly keys?: readonly string[];
  readonly questions?: readonly string[];
}

export interface ScriptedServer {
  /** Answers a request below its base URL. */
  readonly handle: (request: Request) => Promise<Response>;
  /** What it was sent, but for beats; and the first messages' keys. */
  readonly heard: Message[];
  readonly opened: Readonly<Record<string, unknown>>[];
  /** A test may change what it is, as another deployment would, and end all conversations. */
  readonly script: { -readonly [Name in keyof Script]: Script[Name] };
  readonly cut: () => void;
}

interface Conversation {
  taken: number;
  readonly take: (batch: readonly Message[]) => void;
}

const REVERSE = (text: string): string => [...text].reverse().join("");

const refusal = (status: number, code: string, message: string): Response => Response.json({ error: { code, message } }, { status });

export function scriptedServer(given: Script): ScriptedServer {
  const script = { ...given };
  const conversations = new Map<string, Conversation>();
  const heard: Message[] = [];
  const opened: Record<string, unknown>[] = [];
  const open = new Set<() => void>();

  const cut = (): void => {
    for (const end of [...open]) end();
  };

  const begin = (): Response => {
    const id = crypto.randomUUID();
    const encoder = new TextEncoder();
    let end = (): void => undefined;
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        const line = (value: unknown): void => {
          if (conversations.has(id)) controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
        };
        const beat = setInterval(() => line([]), 2_000);
        end = () => {
          if (!conversations.delete(id)) return;
          clearInterval(beat);
          open.delete(end);
          controller.close();
        };
        open.add(end);
        const player = playing(script, (message) => line([message]), opened, end);
        conversations.set(id, { taken: 0, take: (batch) => batch.forEach(player) });
        line({ conversation: id, v: 1 });
      },
      cancel: () => end(),
    });
    return new Response(stream, { headers: { "content-type": "application/x-ndjson" } });
  };

  const post = async (id: string, n: number, request: Request): Promise<Response> => {
    const conversation = conversations.get(id);
    if (conversation === undefined) return refusal(404, "conversation_over", "there is no such conversation");
    const batch = (await request.json()) as readonly Message[];
    if (n > conversation.taken + 1) return refusal(409, "out_of_order", `batch ${conversation.taken + 1} has not come`);
    if (n === conversation.taken + 1) {
      conversation.taken = n;
      heard.push(...batch);
      conversation.take(batch);
    }
    return new Response(null, { status: 204 });
  };

  const handle = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    // A server that says what it was sent, as careless ones do.
    const sent = request.headers.get("authorization");
    if (sent !== `Bearer ${script.token}`) return refusal(401, "unauthorized", `${sent ?? "nothing"} is not the token`);
    const [route = "", id] = pathname.split("/").slice(pathname.startsWith("/base/") ? 2 : 1);
    if (route === "health")
      return Response.json({ protocol: 1, environment: "turn-round", version: script.version ?? "1.0.0", conversations: conversations.size, units: 0 });
    if (route !== "conversations" || request.method !== "POST") return refusal(404, "not_found", "there is nothing here");
    return id === undefined ? begin() : post(id, Number(searchParams.get("n")), request);
  };
  return { handle, heard, opened, script, cut };
}

/** What it does with each message of one conversation. */
function playing(script: Script, say: (message: Message) => void, opened: Record<string, unknown>[], end: () => void): (message: Message) => void {
  const waiting = new Map<number, (answer: Message) => void>();
  let calls = 0;
  const { questions = ["abc", "defg", "hij"] } = script;
  const rows = questions.map((question, example_id) => ({
    ...{ example_id, task: "turn-round", prompt: [{ role: "user", content: `Turn round: <text>${question}</text>` }] },
    ...{ answer: REVERSE(question), info: {} },
  }));

  const ask = (unit: number, prompt: unknown, model: unknown): Promise<Message> => {
    const call = ++calls;
    const body = { model, messages: prompt, max_tokens: 64 };
    say({ type: "call", call, unit, to: null, state: null, watches: false, request: { kind: "relay", route: "chat/completions", body } });
    return new Promise((resolve) => waiting.set(call, resolve));
  };

  const play = async ({ unit, input, rollouts, model }: Message): Promise<void> => {
    const example = input as (typeof rows)[number];
    for (const rollout of rollouts as readonly number[]) {
      const answer = await ask(unit as number, example.prompt, model);
      const reply = answer.reply as { readonly text: string } | undefined;
      const said = answer.error !== undefined || reply === undefined ? null : (JSON.parse(reply.text) as { choices: { message: { content: string } }[] });
      const content = said?.choices[0]?.message.content ?? "";
      const failure = answer.error as { readonly message: string; readonly code: string | null } | undefined;
      const row = {
        ...{
          example_id: example.example_id,
          prompt: example.prompt,
          completion: said === null ? [] : [{ role: "assistant", content }],
          answer: example.answer,
        },
        ...{
          reward: content === example.answer ? 1 : 0,
          metrics: { turned: content === example.answer ? 1 : 0 },
          info: {},
          is_completed: true,
          is_truncated: false,
        },
        ...{ timing: { total_ms: 5, generation_ms: 4, scoring_ms: 1 }, stop_condition: `played for ${script.token}` },
        ...(failure === undefined
          ? {}
          : { error: { error: "ModelError", error_chain_repr: `ModelError -> ${failure.message}`, error_chain_str: failure.message } }),
      };
      say({ type: "ended", unit, rollout, row: JSON.stringify(row), ...(failure?.code == null ? {} : { code: failure.code }), state: null });
    }
    say({ type: "played", unit, fatal: null, aborted: false });
  };

  const does: Readonly<Record<string, (message: Message) => void>> = {
    describe: () => say({ type: "described", facts: factsOf(script) }),
    check: (message) => say({ type: "checked", problem: problemWith(script, message) }),
    resolve_args: ({ args }) => say({ type: "resolved", args }),
    open: (message) => {
      opened.push(message);
      // Careless, as its refusals are.
      say({ type: "print", level: "WARNING", text: `opened for ${script.token}` });
      say({ type: "opened", traits: traitsOf(script, message.args) });
    },
    read: ({ read, count }) => {
      const wanted = (count as number) < 1 ? rows : rows.slice(0, count as number);
      say({ type: "examples", read, rows: wanted, done: true, size: rows.length });
    },
    play: (message) => void play(message),
    answer: (message) => {
      waiting.get(message.call as number)?.(message);
      waiting.delete(message.call as number);
    },
    close: () => {
      say({ type: "closed" });
      end();
    },
  };
  return (message) => does[message.type]?.(message);
}

const factsOf = ({ version = "1.0.0", source = "f".repeat(64), args = [], keys = [] }: Script) => ({
  ...{ id: "turn-round", version, description: "Turns words round.", defaults: { num_examples: 2, rollouts_per_example: 2 }, keys, args, source },
});

function problemWith({ args = [] }: Script, { request }: Message): object | null {
  const { env_args = {} } = request as { readonly env_args?: Record<string, unknown> };
  const unknown = Object.keys(env_args).find((name) => !args.some((arg) => (arg as { name: string }).name === name));
  return unknown === undefined ? null : { option: "env_args", message: `${unknown} is no argument of turn-round` };
}

const traitsOf = ({ version = "1.0.0" }: Script, args: unknown) => ({
  ...{
    id: "turn-round",
    version,
    args,
    dataset_name: "questions",
    pass_threshold: 0.5,
    reward_range: [0, 1],
    reward_weights: { turned: 1 },
    sampling_args: {},
  },
  ...{ tool_defs: [], shared_tools: null, concurrency: null, metric_names: ["turned"], score_rollouts: true, has_group_rewards: false, scores_alone: true },
  ...{ resumable: false, access: [], whole: true, independent_problem: null },
});
