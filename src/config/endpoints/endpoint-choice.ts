import { EdgewiseError } from "../../errors/result.ts";
import { type EndpointRegistry, replicaProblem } from "./endpoint-registry.ts";
import { limitsOfRow, rowOfLimit } from "./limit-rows.ts";
import { pricesOfRow, rowOfPrice } from "./price-rows.ts";
import { type GivenOptions, OPTIONS } from "../options/options.ts";
import { withProvider } from "./providers.ts";

/** One of several places of a creation, as its body names them. */
export interface ReplicaBody {
  readonly api_base_url: string;
  readonly api_key_var: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ChosenEndpoint {
  /** With model, address, key variable and client type written out as far as anybody named them. */
  readonly given: GivenOptions;
  /** Several places that serve the model; empty = the one in `given`. */
  readonly replicas: readonly ReplicaBody[];
}

/**
 * Where an evaluation calls its model: an id of the registry, given as `endpoint_id` or as the model, gives model and
 * places; a provider's name goes over it, and what is given explicitly over both. Throws `invalid_request`.
 */
export function chooseEndpoint(asked: GivenOptions, registry: EndpointRegistry): ChosenEndpoint {
  const given = withPrices(withLimits(asked, registry), registry);
  const { endpoint_id, ...rest } = given;
  if (endpoint_id !== undefined && given.model !== undefined) {
    throw new EdgewiseError("invalid_request", `endpoint_id ${JSON.stringify(endpoint_id)} names a model already: leave out model, or leave out endpoint_id`);
  }
  const id = endpoint_id ?? given.model ?? OPTIONS.model.default;
  const entries = registry.entries.get(id) ?? [];
  const [first] = entries;
  if (first === undefined) {
    if (endpoint_id === undefined) return { given: withProvider(rest), replicas: [] };
    const known = [...registry.entries.keys()];
    throw new EdgewiseError("invalid_request", `endpoint_id ${JSON.stringify(id)} is not in ${registry.file}`, {
      hint: known.length === 0 ? "It has no entry that could be read." : `It has ${known.join(", ")}.`,
    });
  }
  const problem = replicaProblem(entries);
  if (problem !== null) throw new EdgewiseError("invalid_request", `${registry.file}: endpoint ${id}: ${problem}`);
  const provider = given.provider === undefined ? {} : withProvider({ provider: given.provider });
  const place = {
    api_base_url: first.base_url,
    api_key_var: first.api_key_var,
    ...(first.api_client_type === null ? {} : { api_client_type: first.api_client_type }),
    ...withoutModel(provider),
  };
  const { api_base_url, api_key_var, api_client_type, headers = {} } = given;
  const replicas = entries.length > 1 && api_base_url === undefined && given.provider === undefined ? entries : [];
  const merged = { ...first.headers, ...headers };
  return {
    given: {
      ...rest,
      ...place,
      model: first.model,
      ...defined({ api_base_url, api_key_var, api_client_type }),
      ...(replicas.length > 0 || Object.keys(merged).length === 0 ? {} : { headers: merged }),
    },
    replicas: replicas.map((entry) => ({
      api_base_url: entry.base_url,
      api_key_var: api_key_var ?? entry.api_key_var,
      ...(Object.keys(entry.headers).length === 0 ? {} : { headers: entry.headers }),
    })),
  };
}

/**
 * With the limits of the registry in front of those it names itself, whichever endpoint it goes to: judges may be called at others. What names an
 * endpoint that the registry lacks is the service's to know.
 */
function withLimits(given: GivenOptions, { limits, entries }: EndpointRegistry): GivenOptions {
  const own = (given.limits ?? []).flatMap((row) => {
    const places = row.endpoint_id === undefined ? [] : entries.get(row.endpoint_id);
    return places === undefined ? [row] : limitsOfRow(row, places).map(rowOfLimit);
  });
  const rows = [...limits.map(rowOfLimit), ...own];
  return rows.length === 0 ? given : { ...given, limits: rows };
}

/** The same with its prices. */
function withPrices(given: GivenOptions, { prices, entries }: EndpointRegistry): GivenOptions {
  const own = (given.prices ?? []).flatMap((row) => {
    const places = row.endpoint_id === undefined ? [] : entries.get(row.endpoint_id);
    return places === undefined ? [row] : pricesOfRow(row, places).map(rowOfPrice);
  });
  const rows = [...prices.map(rowOfPrice), ...own];
  return rows.length === 0 ? given : { ...given, prices: rows };
}

/** Whether the registry has what an evaluation names, as `endpoint_id` or as its model. */
export const isNamedIn = ({ endpoint_id, model }: GivenOptions, { entries }: EndpointRegistry): boolean =>
  entries.has(endpoint_id ?? model ?? OPTIONS.model.default);

/** The same where an `endpoint_id` that this registry lacks may be one that the service keeps: it stays as it is. */
export function chooseEndpointOrLeave(given: GivenOptions, registry: EndpointRegistry): ChosenEndpoint {
  if (given.endpoint_id === undefined || given.model !== undefined || isNamedIn(given, registry)) return chooseEndpoint(given, registry);
  const { provider, ...rest } = withPrices(withLimits(given, registry), registry);
  return { given: { ...(provider === undefined ? {} : withoutModel(withProvider({ provider }))), ...rest }, replicas: [] };
}

/** The registry names the model, whoever serves it. */
function withoutModel({ model: _, provider: _provider, ...rest }: GivenOptions): GivenOptions {
  return rest;
}

const defined = (given: GivenOptions): GivenOptions => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
