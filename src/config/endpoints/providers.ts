import type { ClientType } from "../plan/run-config.ts";

/** Base URL of the model that the local service brings along; a name instead of an address, since the service's port changes with each start. */
export const EMBEDDED_BASE_URL = "embedded";
/** The one model that is there, and the default of a run that names that base URL and no model. */
export const EMBEDDED_MODEL = "edgewise/tiny";

/** Base URL of a run whose model is called through the Worker's `AI` binding (client type `workers_ai`): a name, since there is no address. */
export const WORKERS_AI_BASE_URL = "workers-ai";

/** Under this address the Worker calls it, through a binding: no request leaves the process. */
const EMBEDDED_URL = "http://embedded/v1";
export const isEmbeddedUrl = (url: string): boolean => url.startsWith(`${EMBEDDED_URL}/`);

/** The URL that a base URL stands for. */
export const callUrl = (baseUrl: string): string => (baseUrl === EMBEDDED_BASE_URL ? EMBEDDED_URL : baseUrl);

export interface Provider {
  readonly base_url: string;
  /** Null: it asks for no key. */
  readonly api_key_var: string | null;
  /** Absent: OpenAI's chat route, as everywhere. */
  readonly api_client_type?: ClientType;
}

/** Endpoints by a short name, and the embedded model. The first is where a run goes that names none. */
export const PROVIDERS = {
  prime: { base_url: "https://api.pinference.ai/api/v1", api_key_var: "PRIME_API_KEY" },
  embedded: { base_url: EMBEDDED_BASE_URL, api_key_var: null },
  openrouter: { base_url: "https://openrouter.ai/api/v1", api_key_var: "OPENROUTER_API_KEY" },
  openai: { base_url: "https://api.openai.com/v1", api_key_var: "OPENAI_API_KEY" },
  anthropic: { base_url: "https://api.anthropic.com", api_key_var: "ANTHROPIC_API_KEY", api_client_type: "anthropic_messages" },
  minimax: { base_url: "https://api.minimax.chat/v1", api_key_var: "MINIMAX_API_KEY" },
  deepseek: { base_url: "https://api.deepseek.com/v1", api_key_var: "DEEPSEEK_API_KEY" },
  glm: { base_url: "https://open.bigmodel.cn/api/paas/v4", api_key_var: "GLM_API_KEY" },
  local: { base_url: "http://localhost:8000/v1", api_key_var: "VLLM_API_KEY" },
  vllm: { base_url: "http://localhost:8000/v1", api_key_var: "VLLM_API_KEY" },
} as const satisfies Record<string, Provider>;

export type ProviderName = keyof typeof PROVIDERS;
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as readonly ProviderName[] as [ProviderName, ...ProviderName[]];

/** Whether a host is one of theirs; those of this machine are nobody's. */
export const isProviderHost = (host: string): boolean => providerOfHost(host) !== null;

export const providerOfHost = (host: string): ProviderName | null =>
  PROVIDER_NAMES.find((name) => {
    const { base_url } = PROVIDERS[name];
    return base_url.startsWith("https:") && new URL(base_url).hostname === host.replace(/\.$/, "");
  }) ?? null;

interface EndpointOptions {
  readonly provider?: ProviderName | undefined;
  readonly model?: string | undefined;
  readonly api_base_url?: string | undefined;
  readonly api_key_var?: string | undefined;
  readonly api_client_type?: ClientType | undefined;
}

/** What a provider's name stands for, written out. What is given explicitly wins; what nobody names stays open. */
export function withProvider<Given extends EndpointOptions>(given: Given): Given {
  const provider: Partial<Provider> = given.provider === undefined ? {} : PROVIDERS[given.provider];
  const base_url = given.api_base_url ?? provider.base_url;
  const filled: EndpointOptions = {
    api_base_url: base_url,
    api_key_var: given.api_key_var ?? provider.api_key_var ?? undefined,
    api_client_type: given.api_client_type ?? provider.api_client_type,
    model: given.model ?? (base_url === EMBEDDED_BASE_URL ? EMBEDDED_MODEL : undefined),
  };
  return { ...given, ...Object.fromEntries(Object.entries(filled).filter(([, value]) => value !== undefined)) };
}

/** The provider whose key is in a variable of this name. */
export const providerOfKey = (variable: string): ProviderName | null => PROVIDER_NAMES.find((name) => PROVIDERS[name].api_key_var === variable) ?? null;
