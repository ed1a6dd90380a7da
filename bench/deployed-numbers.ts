import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_readConfig as readConfig } from "wrangler";

/** What is read of wrangler.toml; wrangler's own type of it is not exported whole. */
interface Settings {
  readonly compatibility_date: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly durable_objects: { readonly bindings: readonly { readonly name: string; readonly class_name: string }[] };
  readonly r2_buckets: readonly { readonly binding: string; readonly bucket_name: string }[];
}

export interface DeployedOptions {
  /** Another Worker with the same objects, instead of the built one, which it may import as `./worker.js`. */
  readonly script?: string;
  /** `host:port` that stands behind every address. With it nothing says that the service is local: slices end, and callers show `TOKEN`. */
  readonly model?: string;
  /** The same without a model: `script` has its own. */
  readonly deployed?: boolean;
  /** In place of some of the deployed numbers. */
  readonly vars?: Readonly<Record<string, string>>;
}

export const TOKEN = "token-of-the-bench";

const root = fileURLToPath(new URL("..", import.meta.url));

const LOCAL = { LOCAL: "1", BOOT_ID: "bench" };
const ELSEWHERE = { EDGEWISE_TOKEN: TOKEN, API_BASE_URL: "https://model.example.com/v1", PRIME_API_KEY: "key-of-the-bench" };

/**
 * The built Worker on this machine with the numbers of a deployment (`[vars]` of wrangler.toml): executors of a few lanes instead of
 * one of thousands, whose segments are smaller and whose claims are more. Each queue is one executor, since the local queue hands
 * out one batch at a time.
 */
export async function startWithDeployedNumbers(
  state: string,
  executors: number,
  { script, model, deployed = model !== undefined, vars = {} }: DeployedOptions = {},
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const settings = readConfig({ config: join(root, "wrangler.toml") }) as unknown as Settings;
  const built = { type: "ESModule" as const, path: join(root, "dist/worker.js") };
  const queues = Array.from({ length: executors }, (_, k) => `rollouts-${k}`);
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      cf: false,
      telemetry: { enabled: false },
      logRequests: false,
      // The watchdog's way in.
      unsafeTriggerHandlers: true,
      resourcePersistencePath: state,
      name: "edgewise",
      modulesRoot: join(root, "dist"),
      modules: [...(script === undefined ? [] : [{ type: "ESModule" as const, path: join(root, "dist/main.js"), contents: script }]), built],
      compatibilityDate: settings.compatibility_date,
      bindings: { ...settings.vars, ...(deployed ? ELSEWHERE : LOCAL), ...vars },
      durableObjects: Object.fromEntries(settings.durable_objects.bindings.map(({ name, class_name: className }) => [name, { className, useSQLite: true }])),
      r2Buckets: Object.fromEntries(settings.r2_buckets.map(({ binding, bucket_name: bucket }) => [binding, bucket])),
      queueProducers: Object.fromEntries(queues.map((queueName, k) => [`ROLLOUTS_${k}`, { queueName }])),
      queueConsumers: Object.fromEntries(queues.map((queue) => [queue, { maxBatchSize: 1, maxBatchTimeout: 0 }])),
      serviceBindings: model === undefined ? {} : { NETWORK: { external: { address: model, http: {} } } },
    }),
  );
  const url = await runtime.ready;
  return { url: url.origin, close: () => runtime.dispose() };
}
