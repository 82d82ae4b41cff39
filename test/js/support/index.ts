// What every test file imports.
export * from './cases';
export * from './children';
export * from './files';
export * from './hosts';
export * from './lifelines';
export * from './module';
export * from './processes';
export * from './refusals';
export * from './sessions';

jest.setTimeout(90_000);
