import { type Config, readConfig, SettingsError } from './config.ts';

/** Exit code of a program that cannot run with its settings (EX_CONFIG of sysexits.h): a supervisor need not start it again. */
export const wrongSettingsExit = 78;

/** Says what is wrong and ends the process. */
export function endWithSettings(error: Error): never {
  process.stderr.write(`${error.message}\n`);
  process.exit(wrongSettingsExit);
}

/** The settings, or the end of the process with every one that is wrong. */
export function settingsOrEnd(env: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return endWithSettings(error);
  }
}
