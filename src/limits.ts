/**
 * Platform limits, and the budgets we derive from them, in one place with the source of each number. The local runtime
 * enforces almost none of them (docs/architecture.md, "What the local runtime hides"), so every border checks against this module.
 *
 * Sources: `D page` = Cloudflare developer documentation, page name; `S path` = workerd source.
 */
export const KIB = 1024;
export const MIB = 1024 * KIB;

/** D durable-objects/platform/limits: row, string or BLOB. */
export const MAX_ROW_BYTES = 2 * MIB;
/**
 * A row of a results folder, as a line and as a text in Node: V8 takes 536,870,888 characters as one text (`buffer.constants.MAX_STRING_LENGTH`), and a row is held as
 * bytes, as a text and parsed at once. Ours have at most 1.5 MiB; those of other programs may have images.
 */
export const MAX_FOLDER_ROW_BYTES = 256 * MIB;
/** A run's config is one row. Parsing makes numbers longer than they were written (1e20), so a body's bound does not bound it. */
export const MAX_CONFIG_BYTES = MIB;
/** D r2/platform/limits. */
export const MAX_R2_KEY_BYTES = 1024;
/** D r2/objects/multipart-objects: parts are equal in size except the last, 5 MiB to 5 GiB, at most 10,000. */
export const MIN_PART_BYTES = 5 * MIB;
export const MAX_PARTS = 10_000;
/** D workers/platform/limits: connections waiting for response headers, per invocation. */
export const MAX_CONNECTIONS = 6;
/** D workers/platform/limits: default of `limits.subrequests` on the paid plan. */
export const MAX_SUBREQUESTS = 10_000;
/** S src/workerd/api/worker-rpc.h: arguments or answer of one RPC. */
export const MAX_RPC_BYTES = 32 * MIB;
/** D queues/platform/limits: consumers of one queue at once. */
export const QUEUE_CONSUMERS = 250;
/** D queues/platform/limits: wall time of a consumer invocation. */
export const CONSUMER_WALL_MS = 15 * 60_000;
/** D queues/platform/limits: delay on send or retry. */
export const MAX_QUEUE_DELAY_S = 12 * 3_600;
/** D workers/platform/limits: request body on the free and pro plans. */
export const MAX_BODY_BYTES = 100_000_000;

// What comes from outside. Each bound is of our own; what it keeps whole is beside it.
/** Levels of JSON in a request, a flag or an answer: a walk takes a frame or two per level, and the least stack of a browser holds some 5,000. */
export const MAX_JSON_DEPTH = 64;
/** Levels of a row: as deep as Python's `json` writes without a word (its stack holds 1,000), and far from where `JSON.stringify` gives up. */
export const MAX_ROW_DEPTH = 256;
/** Evaluations that one config file comes to on a command line: each is a run with a folder of its own. */
export const MAX_EVALUATIONS = 1_000;
/** Endpoints that a team keeps, and bytes of one with its replicas and headers: a list of all of them is one answer. */
export const MAX_ENDPOINTS = 200;
export const MAX_ENDPOINT_BYTES = 32 * KIB;
/** The most that a limit of an endpoint may be given as: far from where sums of such numbers lose digits. */
export const MAX_GIVEN_AMOUNT = 1e12;
/** Limits that a team keeps, and that one run or one file has: each place is compared with all of them. */
export const MAX_GIVEN_LIMITS = 200;
/** Prices that one run or one file has: each place is compared with all of them. */
export const MAX_GIVEN_PRICES = 200;
/** The most that a million tokens may be given as, in dollars: far above every price there is, and far below where sums of nano-dollars lose digits. */
export const MAX_USD_PER_MTOK = 1e6;
/** Budgets that a team keeps: each is asked when they are listed, and a run is paid from those of its keys. */
export const MAX_KEPT_BUDGETS = 100;
/** The least and the most that a budget may be given as, in dollars: in nano-dollars a whole number that is exact, also where a million calls are added. */
export const MIN_BUDGET_USD = 1e-6;
export const MAX_BUDGET_USD = 1e6;
/** Limiters that a team's Registry knows: beyond it the one that was longest not heard of is forgotten. */
export const MAX_KNOWN_LIMITERS = 500;
/** Of rows that a forecast is from, bytes, and runs that it reads for it: the newest say most, and thousands of examples say it no better. */
export const MAX_FORECAST_BYTES = 16 * MIB;
export const MAX_FORECAST_RUNS = 5;
/** Baselines that a team has: a list of all is one answer. */
export const MAX_BASELINES = 500;
/** Schedules of a team: each is an object, and in the minute in which all of them are due as many creations. */
export const MAX_SCHEDULES = 1_000;
/** Monitors of a team: each is an object with an alarm in each of its intervals. */
export const MAX_MONITORS = 1_000;
/** Alerts of a team: each occurrence is compared with all of them. */
export const MAX_ALERTS = 100;
/** Messages that wait for one receiver: beyond it the oldest is given up. */
export const MAX_WAITING_MESSAGES = 1_000;
/** Evaluators of training loops of a team: each is an object. */
export const MAX_EVALUATORS = 1_000;
/** Data sets that a team has by name, files of one, and revisions of one that are kept: a list of all, with their newest, is one answer. */
export const MAX_NAMED_DATASETS = 200;
export const MAX_DATASET_FILES = 50;
export const MAX_DATASET_REVISIONS = 10;
/** Published environments of a team, and versions of one: a list of each is one answer. */
export const MAX_PUBLISHED = 500;
export const MAX_VERSIONS = 200;
/** Links of a team, and addresses of one: each is a process, and an executor opens one stream to each. */
export const MAX_LINKS = 200;
export const MAX_LINK_URLS = 32;
/** What a link's server says of its environment, as JSON: it is a column of one row, of at most 2 MB (D durable-objects/platform/limits). */
export const MAX_LINK_FACTS_BYTES = 256 * KIB;
/** Names of models that are told of one place: OpenRouter, which has most, lists some four hundred. */
export const MAX_LISTED_MODELS = 1_000;
/** Seconds that the link of a command may last without being renewed. */
export const MAX_LINK_LEASE_S = 600;
/** Characters that lists show of a published environment's description. */
export const MAX_LISTED_CHARS = 1_000;
/**
 * The code of one version, which is one module, and its source map: a push holds both as bytes and as texts. A Worker may be larger (D workers/platform/limits:
 * 64 MB unpacked), but its 128 MiB are for what it does too.
 */
export const MAX_MODULE_BYTES = 8 * MIB;
export const MAX_SOURCE_MAP_BYTES = 8 * MIB;
/** The README of one version: a page shows it whole, and renders so much Markdown within a second. */
export const MAX_README_BYTES = 128 * KIB;
/** What of an environment is told without its code: descriptions and schemas of arguments, several of which are one row. */
export const MAX_FACTS_BYTES = 256 * KIB;
/** How long the code of a deleted version stays, for runs that were made with it and are resumed. */
export const DELETED_VERSION_MS = 30 * 24 * 60 * 60_000;
/** Characters of one row of text, blank lines before it counted: beyond it a file has no rows. */
export const MAX_ROW_CHARS = 16 * MIB;
/** Characters of one record of a CSV file: its parser notes every quote that stands wrongly in it. */
export const MAX_CSV_RECORD_CHARS = 4 * MIB;
/** Characters that a reader takes in at a time; what takes longer than that to work through lets everybody else go first. */
export const STEP_CHARS = 256 * KIB;
/** Bytes that one compressed file becomes: 20 s of unpacking, and more rows than any evaluation has paid for. */
export const MAX_UNPACKED_BYTES = 4 * 1024 * MIB;
/** Bytes of one page of a Parquet file, unpacked: its writers aim at 1 MiB. */
export const MAX_PAGE_BYTES = 32 * MIB;
/** Values of one column in one row group, of which its writers make at most a million rows: 128 MiB of memory as an array. */
export const MAX_COLUMN_VALUES = 16 * 1024 * KIB;
/** The index of a Parquet file: some 100 bytes for each column of each row group, and ten times that when it is parsed. */
export const MAX_PARQUET_INDEX_BYTES = 16 * MIB;
/** Bytes of the pinned rows of one run: 1 MiB of them is a chunk, and a Run keeps a line for each. */
export const MAX_INPUT_BYTES = 16 * 1024 * MIB;
/** An answer of the Hub that is no file: a page of 100 rows, or the list of a repository's files. */
export const MAX_HUB_ANSWER_BYTES = 32 * MIB;

/** One sample of a pushed evaluation: read whole, as text and as values, beside three others. */
export const MAX_SAMPLE_BYTES = 8 * MIB;
/** Lines of traces in one upload, unpacked: what their senders are told that a service takes (`MAX_BATCH_BYTES` of prime-traces 0.0.10). */
export const MAX_TRACES_BYTES = 256 * MIB;
/** Samples of one batch that are told to their Run at a time. */
export const SAMPLES_A_CALL = 1_000;

/** One part of an uploaded results folder, unless a single example is larger: what an adoption that is begun anew reads again at most. */
export const FOLDER_PART_BYTES = 8 * MIB;
/** The list of those parts: 100 bytes for each, so that the largest folder has 300 GB. */
export const MAX_MANIFEST_BYTES = 4 * MIB;

/** Rows of the runs that one request compares: 4 s of a processor. What is more is compared where there is no such bound, on the command line. */
export const MAX_COMPARED_BYTES = 512 * MIB;
/** Their examples, with eight metrics each: 60 MiB while rows are read. */
export const MAX_COMPARED_EXAMPLES = 250_000;

/** D workers/platform/limits: memory of an isolate, which concurrent invocations of a Worker may share. */
export const ISOLATE_MEMORY = 128 * MIB;
/**
 * What the executors of one isolate hold together. A byte that counts may be there twice, as text and encoded on its way to storage; the
 * last quarter is for the code (7 MiB of text), answers and conversations that turn out larger than expected, and requests of the door.
 */
export const ISOLATE_BYTES = (ISOLATE_MEMORY * 3) / 8;
/** A row of a run of which no unit has finished in the isolate yet: a long conversation. So many rollouts that nothing is known of wait for no one: 384. */
export const UNKNOWN_ROW_BYTES = 128 * KIB;

/** What a task that makes Parquet files holds: a row group as values and once more as bytes (2 MiB of text, some eight times), and a part on its way. */
export const EXPORT_BYTES = 24 * MIB;

// Isolates that the code of environments runs in (docs/decisions/isolates.md).
/** D dynamic-workers/platform/limits: distinct ones in flight in one request, and so in one executor. */
export const ISOLATES_AT_ONCE = 4;
/** Processor time of a session: what its executor has of its own (wrangler.toml, `limits.cpu_ms`; D workers/platform/limits: at most that). Locally nobody counts it. */
export const ISOLATE_CPU_MS = 300_000;
/** Requests that leave it in a session, as many as an executor's own. */
export const ISOLATE_SUBREQUESTS = MAX_SUBREQUESTS;
/** Isolates of one process that nobody works in and that are kept, where no platform ends them: 11 MiB each. */
export const IDLE_ISOLATES = 12;
/** Of one request of an environment's code, and of its answer: what `MAX_BODY_BYTES` is to ours, small enough for the memory of an isolate. */
export const MAX_OUTBOUND_BYTES = 16 * MIB;
/** Messages that cross at once: below the 32 MiB of one call (S src/workerd/api/worker-rpc.c++), though a character may take two bytes. */
export const MAX_BATCH_CHARACTERS = 12 * MIB;
/** What waits for an isolate that does not take it: answers to all the calls that its sessions may have under way, and half of the memory of who sends them. */
export const MAX_WAITING_CHARACTERS = 64 * MIB;

// Budgets of an executor: at most 16 MiB in all, and within what its isolate has left.
export const SEGMENT_BYTES = 4 * MIB;
export const SEGMENT_ROWS = 512;
/** Segments up to this size are merged while the run goes on: so many reads for a part of `results.jsonl` take as long as its bytes do. */
export const SMALL_SEGMENT_BYTES = SEGMENT_BYTES / 16;
/** Age of a deployed segment at most: the work that an executor which is killed loses beside what it has open. Longer than a lease, which is renewed meanwhile. */
export const SEGMENT_AGE_MS = 60_000;
/**
 * Age at which a generated rollout is kept whose unit is not done: locally, and deployed, where each segment has a price. It is what an executor that is
 * killed loses beside what is in flight.
 */
export const KEEP_AGE_MS = 2_000;
export const DEPLOYED_KEEP_AGE_MS = 30_000;
/** Time of a rollout of several turns that is lost with an executor that is killed, beside the call in flight: beyond it, where the rollout stands is kept. */
export const KEEP_TURNS_MS = 10_000;
/** Rows of a segment of rows that are taken over: nobody waits for them one by one. */
export const ADOPTED_SEGMENT_ROWS = 2_048;
export const INPUT_CHUNK_BYTES = 1 * MIB;
export const INPUT_CHUNK_ROWS = 512;
export const INPUT_CACHE_BYTES = 4 * MIB;
/** What is kept of one rollout to score it later, or to go on with it: a row of half of that is the largest, and a deployed executor writes one at a time. */
export const MAX_KEPT_STATE_BYTES = 3 * MIB;
/**
 * What is kept of the questions and answers of one rollout's judges, in a run whose rows have them: in English a sixth of the largest row and less than a tenth
 * of the largest kept state, so that the rollout itself has the room. And of one text of it: the beginning of a prompt of ten thousand words.
 */
export const MAX_JUDGEMENTS_CHARACTERS = 256 * KIB;
export const MAX_JUDGEMENT_CHARACTERS = 64 * KIB;
/** Response bodies held at once. */
export const RESPONSE_BYTES = 8 * MIB;
/** One answer: what a deployed executor may hold of answers, over its five requests. A row of this size would be refused anyway. */
export const MAX_ANSWER_BYTES = Math.floor(RESPONSE_BYTES / (MAX_CONNECTIONS - 1));
/** One answer that is kept for runs to come, as it is stored: no more than a deployed executor may hold of the next one. */
export const MAX_CACHED_ANSWER_BYTES = MAX_ANSWER_BYTES;
/** After this what an executor may have left that ended between putting an answer and saying so is deleted: many times what a request can take (`DEFAULT_REQUEST_MS`). */
export const CACHE_ORPHAN_MS = 24 * 60 * 60_000;
/** A streamed answer holds its connection slot until its first headers only, so that an executor carries this many times more of them. */
export const STREAMS_PER_CONNECTION = 4;
/** Characters of one streamed answer, so that all that an executor carries stay within the same memory. */
export const MAX_STREAMED_ANSWER_CHARACTERS = Math.floor(MAX_ANSWER_BYTES / STREAMS_PER_CONNECTION);
/**
 * Characters of a streamed answer that is passed on as it came: each of its pieces, a token, comes in some 250 characters of JSON. Where connections are not
 * counted memory is not short either.
 */
export const MAX_RELAYED_STREAM_CHARACTERS = 2 * MIB;
export const MAX_RELAYED_STREAM_CHARACTERS_LOCAL = 16 * MIB;
/** Characters of a refusal that is passed on. */
export const MAX_RELAYED_REFUSAL_CHARACTERS = 64 * KIB;
/** One part of `results.jsonl`. */
export const PART_BYTES = 8 * MIB;
/** Rows of permuted examples that are put into order in memory: what is left of half an isolate beside what is read at once, since nobody gets more beforehand. */
export const SORT_BYTES = ISOLATE_BYTES / 2 - 2 * SEGMENT_BYTES;
/** Rows of one example that are not worth putting into order beforehand: from here on a part of `results.jsonl` takes no more reads without that than with it. */
export const SORTED_UNIT_BYTES = 128 * KIB;
/** Rows that are put into order, or a part that is being filled, and what is read for it at once (r2-layout/read-part.ts). */
export const FINALISE_BYTES = SORT_BYTES + 2 * SEGMENT_BYTES;
/** Examples that are put into a random order together, where the run begins with the first of them: as many as are read in a fraction of a second. */
export const PERMUTED_ROWS = 8_192;
export const PERMUTED_BYTES = 4 * MIB;
/** Examples that are one random order, which stopping early needs: held while they are read, and their places looked up for each part of the final file. */
export const MAX_WHOLE_ORDER_ROWS = 32_768;
export const MAX_WHOLE_ORDER_BYTES = 16 * MIB;
/** Chunks on their way, and what a reader of a data set has of it unpacked; examples that are put into order are beside it. */
export const PREPARE_BYTES = 16 * MIB;
/** A pushed sample that is read, or the rows of a segment as they were pushed and as they are written. */
export const INTAKE_BYTES = 4 * SEGMENT_BYTES;

// Batches of requests (docs/batch.md): what of one an executor holds. Providers take more (BATCH_LIMITS).
/** Requests of one job, as the file that its provider is given. */
export const BATCH_JOB_BYTES = 16 * MIB;
/** Requests of one job: what is known of each, beside its bytes, is held too. */
export const BATCH_JOB_REQUESTS = 10_000;
/** While they are written: the file, and the half of it that it has grown from. */
export const BATCH_WRITE_BYTES = BATCH_JOB_BYTES + BATCH_JOB_BYTES / 2;
/** Answers of a job that are put into one object. */
export const BATCH_PART_BYTES = 8 * MIB;
/** While they come: a part, the answer that is read, and where each of the others is. */
export const BATCH_COLLECT_BYTES = 2 * BATCH_PART_BYTES;
/** Where answers are, of the jobs that units are answered from. */
export const BATCH_INDEX_BYTES = 4 * MIB;
/** Answers are read in windows of a part: those of neighbours mostly lie together, and a read costs the same however short it is. */
export const BATCH_WINDOW_BYTES = 256 * KIB;
export const BATCH_WINDOWS_BYTES = 4 * MIB;
/** Answers after which whoever is answered waits a moment: nothing else has others let in where no answer comes from a network. */
export const BATCH_ANSWERS_A_BREATH = 64;
/** A segment of rows that are taken over, and the example that is read. */
export const ADOPT_BYTES = 2 * SEGMENT_BYTES;

// Slice of an executor.
export const SLICE_MS = 12 * 60_000;
export const SLICE_SUBREQUESTS = Math.floor(MAX_SUBREQUESTS * 0.8);
export const SLICE_ROLLOUTS = 5_000;
/** Rollouts that a local executor holds unscored where scoring is postponed; a deployed one, whose memory is small, those it has open. */
export const HELD_ROLLOUTS = 512;
/**
 * Runs that the watchdog pokes in one invocation, which has a minute until the next: each is one subrequest, and an object that may have
 * to be started. With more of them they take turns.
 */
export const WATCHDOG_RUNS = 1_000;
/** How long an upload stays that no run points to: whoever names it does so a moment after it was uploaded, or asked for. Swept as often. */
export const UPLOAD_GRACE_MS = 24 * 60 * 60_000;
/** A unit of a deployed run ends with `timeout` rows at this age. */
export const UNIT_DEADLINE_MS = 13 * 60_000;
/** What scoring may take after that, and after the end of a run that reached a limit: the rollouts are there, only their worth is not known yet. */
export const SCORING_GRACE_MS = 30_000;

// Environments behind a wall (src/walled/).
/** A unit with no call under way of which nothing is heard: less than `UNIT_DEADLINE_MS`, so that it ends as an error and not with its executor. */
export const WALLED_SILENCE_MS = 10 * 60_000;
/** What an environment may take to say what it is, to check arguments, to be loaded, and to end. */
export const WALLED_OPENING_MS = 60_000;
/** What a unit may take to end after it was told to, before its session is given up: a rollout has two seconds to let go of what it holds. */
export const WALLED_ABORT_MS = 10_000;
/** Characters of one request to a model, and of all that are under way in a session: less than what one message between isolates may have (32 MiB). */
export const MAX_WALLED_CALL_CHARACTERS = 16 * MIB;
export const MAX_WALLED_CALLS_CHARACTERS = 64 * MIB;
/** Model calls of one rollout under way at once. */
export const MAX_WALLED_CALLS = 64;

// Sandboxes (src/environments/sandbox/).
/** Of one command, standard output and errors each: half a row, and more than a model reads. */
export const MAX_SANDBOX_OUTPUT_BYTES = MIB;
/** Of a background job, of each of the two: who looks at it does so again and again. */
export const MAX_JOB_OUTPUT_BYTES = 64 * KIB;
/** One file that is put into a sandbox or taken out: what `MAX_BODY_BYTES` is to a request, small enough for an executor beside others. */
export const MAX_SANDBOX_FILE_BYTES = 8 * MIB;
/** Sandboxes of one local service at once, each a shell of 5 MiB when it does nothing; who asks for one more waits. */
export const MAX_LOCAL_SANDBOXES = 256;
/** Processes and threads in one: an agent with its tools and a test suite, while a fork bomb is nothing that the machine notices. */
export const MAX_SANDBOX_PROCESSES = 512;
/** Files and folders in the memory of one that no cgroup counts: 1 KiB of the kernel's for each. */
export const MAX_SANDBOX_INODES = 262_144;

/** Of a session behind a wall: sandboxes that are not ended, and what it has them do at once. An executor has a rollout or two for each of its requests. */
export const MAX_WALLED_SANDBOXES = 256;
export const MAX_WALLED_SANDBOX_CALLS = 512;
/** Of those, files on their way: in one message each, and twice as text. */
export const MAX_WALLED_SANDBOX_FILES = 4;
/** Characters of a command line: D linux execve(2), `MAX_ARG_STRLEN` of one word. */
export const MAX_SANDBOX_COMMAND_CHARACTERS = 128 * KIB;
/** Time of one command: what takes longer is a job. */
export const MAX_SANDBOX_COMMAND_SECONDS = 3_600;

// Environments at the other end of a network (src/environment-http/; docs/environment-protocol.md, "Over HTTP").
/** How long one may take to begin a conversation: a container that stands still is started first. */
export const HTTP_BEGIN_MS = 60_000;
/** What it may take to say how it is. */
export const HTTP_HEALTH_MS = 5_000;
/** What one may take to load: Python reads its data sets and models then. */
export const LINKED_OPENING_MS = 10 * 60_000;
/** What one may take to say what it is, while whoever links it waits: less than the command does (src/cli/links/link-client.ts). */
export const LINKED_DESCRIBING_MS = 110_000;
/** Where nothing else is said for so long, that one is there; the environment's side says it twice as often. */
export const HTTP_BEAT_MS = 10_000;
/** Six beats of the environment's side that did not come. */
export const HTTP_SILENCE_MS = 30_000;
/** What a batch may take on its way up: a large one on a slow line. It is sent again then, and while nothing is known of it for so long. */
export const HTTP_POST_MS = 20_000;
export const HTTP_REPEAT_MS = 30_000;
/** Of a place that cannot be reached while others can: doubling from the first to the last. */
export const PLACE_PAUSE_FIRST_MS = 1_000;
export const PLACE_PAUSE_LAST_MS = 30_000;

// Batches at a provider (docs/batch.md, "Providers").
/** OpenAI, https://developers.openai.com/api/docs/guides/batch: requests of one batch, and bytes of its file. */
export const OPENAI_BATCH_REQUESTS = 50_000;
export const OPENAI_BATCH_BYTES = 200_000_000;
/** Anthropic, https://platform.claude.com/docs/en/build-with-claude/batch-processing: requests of one batch, and bytes of the request that creates it. */
export const ANTHROPIC_BATCH_REQUESTS = 100_000;
export const ANTHROPIC_BATCH_BYTES = 256_000_000;
/** One line of a batch's results: an answer that a direct call would have taken, in JSON, and what stands around it. What is longer is passed over. */
export const MAX_BATCH_LINE_BYTES = MAX_ANSWER_BYTES + 64 * KIB;
/** One call about a batch, and one that carries a file of requests up. */
export const BATCH_CALL_MS = 60_000;
export const BATCH_UPLOAD_MS = 10 * 60_000;
/** The call that creates a batch, all that it waits for included, maybe with its requests: `BATCH_JOB_BYTES` at 1 Mbit/s. Nothing of it is sent later. */
export const BATCH_CREATE_MS = 2 * 60_000;
/** For so long after somebody began to create a batch one that is not in the list may still come into it: none is created anew before. */
export const BATCH_SETTLE_MS = BATCH_CREATE_MS + 30_000;
/** How far a provider's clock may be behind ours where it says when a batch was created. */
export const BATCH_CLOCK_MS = 5 * 60_000;

// How long an endpoint may be gone.
/** An endpoint that had answered, and answers nobody any more: a minute's outage, the server's start after it, and as much again. */
export const OUTAGE_MS = 120_000;
/** One that never answered anything in the run: the server has died since it was looked at, or the address is wrong. */
export const FIRST_ANSWER_MS = 20_000;

/**
 * Longest pause that is granted at a time to an endpoint that asks for one. A bogus or hostile `Retry-After` must not stop a run for a day; a server that means
 * it says so again when it is asked again.
 */
export const MAX_PAUSE_MS = 10 * 60_000;

/**
 * An endpoint that refuses everybody for want of room (429, overload): three times the longest storm that a run is to outlast (ten minutes). Refusals cost a
 * request no retry until then.
 */
export const STORM_MS = 30 * 60_000;

// Calls that failed and are made again (src/executor/units/retry-waits.ts). The first span of a wait, and the last it doubles to.
/** The last is below the time that a local executor has until its lease ends (6 s less a margin of 1.5), so that it asks once more. */
export const RETRY_FIRST_MS = 250;
export const RETRY_LAST_MS = 4_000;
/** D durable-objects/best-practices/error-handling: an object with `.overloaded` is not to be asked again at once. Still below a deployed lease of 30 s. */
export const OVERLOADED_FIRST_MS = 2_000;
export const OVERLOADED_LAST_MS = 16_000;
