// How the types of the contract look in JavaScript: what goes in may leave out what is optional, and what comes out has null
// where there is nothing, and dates.
import type { TRPCDefaultErrorShape } from "@trpc/server";
import type { TextChange } from "../generated/contract/interfaces/portico-dashboard-types.js";

/** A value that Portico returns. */
export type Output<T> = [T] extends [void]
  ? void
  : T extends bigint
    ? Date
    : T extends undefined
      ? null
      : T extends (infer Item)[]
        ? Output<Item>[]
        : T extends object
          ? { [Key in keyof T]-?: Output<T[Key]> }
          : T;

/** The same as a client of the router gets it. */
export type Answer<T> = [T] extends [void] ? undefined : Output<T>;

type IsTextChange<T> = [T] extends [TextChange] ? ([TextChange] extends [T] ? true : false) : false;
/** The fields that may be left out. */
type Optional<T> = { [Key in keyof T]-?: undefined extends T[Key] ? Key : IsTextChange<T[Key]> extends true ? Key : never }[keyof T];

/** A value that Portico takes. A change of a text is left out (it stays), null (it goes) or the new text. */
export type Input<T> =
  IsTextChange<T> extends true
    ? string | null | undefined
    : T extends undefined
      ? null | undefined
      : T extends (infer Item)[]
        ? readonly Input<Item>[]
        : T extends object
          ? { [Key in Exclude<keyof T, Optional<T>>]: Input<T[Key]> } & { [Key in Optional<T>]?: Input<T[Key]> }
          : T;

/** Parameters of which the last may be left out. */
type Arguments<P extends readonly unknown[]> = P extends readonly [...infer First, infer Last]
  ? undefined extends Last
    ? [...Arguments<First>, Input<Last>?]
    : [...Given<First>, Input<Last>]
  : [];
type Given<P extends readonly unknown[]> = P extends readonly [infer First, ...infer Rest] ? [Input<First>, ...Given<Rest>] : [];

/** The functions of an interface of the contract. Each takes who calls first. */
export type Functions<Interface, Who> = {
  [Name in keyof Interface]: Interface[Name] extends (caller: infer _, ...values: infer Values) => infer Result
    ? (caller: Who, ...values: Arguments<Values>) => Promise<Output<Result>>
    : never;
};

/** What `people` takes: as `Input`, and times as dates. */
type Times<T> = T extends bigint ? number | Date : T extends undefined ? null | undefined : T;
/** What `people` returns, with the caller in place of the contract's. */
type Known<T, Who> = { [Key in keyof T]: Key extends "caller" ? Who : T[Key] };

/** The functions of `portico:sql/people`. */
export type People<Interface, Who> = {
  [Name in keyof Interface]: Interface[Name] extends (...values: infer Values) => infer Result
    ? (
        ...values: Name extends "renewWithPassword" ? [caller: Who] : { [Index in keyof Values]: Times<Values[Index]> }
      ) => Promise<Name extends "callerOf" ? Who | null : Output<Result> extends object | null ? Known<Output<Result>, Who> : Output<Result>>
    : never;
};

/** What storage returns: none may be null, and a number of 64 bits a number or a Date. */
export type Stored<T> = [T] extends [void]
  ? void | unknown
  : T extends bigint
    ? bigint | number | Date
    : T extends undefined
      ? null | undefined
      : T extends (infer Item)[]
        ? Stored<Item>[]
        : T extends object
          ? { [Key in keyof T as undefined extends T[Key] ? never : Key]: Stored<T[Key]> } & {
              [Key in keyof T as undefined extends T[Key] ? Key : never]?: Stored<T[Key]> | null
            }
          : T;

/** An error as clients of the router get it. */
export type RouterError = TRPCDefaultErrorShape & {
  data: TRPCDefaultErrorShape["data"] & {
    /** Each rule that the input breaks, by field; null unless the code is `BAD_REQUEST`. */
    zodError: { formErrors: string[]; fieldErrors: Record<string, string[]> } | null;
  };
};
