/** By which an isolate knows that an answer is no server's: its way out says why a request was not sent. An error thrown there would stand in the log of the service. */
export const REFUSAL_HEADER = "x-edgewise-not-sent";

export const refusalOf = (reason: string): Response => new Response(reason, { status: 403, headers: { [REFUSAL_HEADER]: "1" } });
