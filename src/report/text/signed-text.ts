/** A difference with its sign: `+0.012`. */
export const signedText = (value: number): string => `${value < 0 ? "-" : "+"}${Math.abs(value).toFixed(3)}`;
