/**
 * The address of an alert that stands in a variable: of many receivers it is all that it takes to write into a channel. Null where it is not set, which
 * `unsetAddress` says.
 */
export const addressIn = (variable: string, env: NodeJS.ProcessEnv): string | null => env[variable]?.trim() || null;
export const unsetAddress = (variable: string): string => `the variable ${JSON.stringify(variable)}, which is to hold the address, is not set`;
