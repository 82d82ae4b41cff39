// node-pty's names of types, for programs that import them from "node-pty" and get this package by an alias.
import type { Disposable, Event } from './event';
import type { SpawnOptions } from './options';
import type { Terminal } from './terminal';

export type IDisposable = Disposable;
export type IEvent<T> = Event<T>;

export type IPty = Pick<
  Terminal,
  | 'pid'
  | 'cols'
  | 'rows'
  | 'process'
  | 'handleFlowControl'
  | 'onData'
  | 'onExit'
  | 'resize'
  | 'clear'
  | 'write'
  | 'kill'
  | 'pause'
  | 'resume'
>;

export type IBasePtyForkOptions = SpawnOptions;
export type IPtyForkOptions = SpawnOptions;

/** None of it has an effect on the systems that this package runs on. */
export interface IWindowsPtyForkOptions extends SpawnOptions {
  useConpty?: boolean;
  useConptyDll?: boolean;
  conptyInheritCursor?: boolean;
}
