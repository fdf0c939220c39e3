/** Exit code of a program that cannot run with its settings (EX_CONFIG of sysexits.h): a supervisor need not start it again. */
export const wrongSettingsExit = 78;
