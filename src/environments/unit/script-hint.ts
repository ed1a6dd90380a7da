/** What a hint calls by its flag, as a script sets it. */
const NAMES: Readonly<Record<string, string>> = { "-b": "api_base_url", "-k": "api_key_var", "-m": "model", "--api-client-type": "client_type" };

/** A hint that is worded for the command line, for whoever calls the library: flags are the settings that they stand for. */
export const scriptHint = (hint: string): string => hint.replaceAll(/(?<![\w-])(-[bkm]|--api-client-type)(?![\w-])/g, (flag) => NAMES[flag] ?? flag);
