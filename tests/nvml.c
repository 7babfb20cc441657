/* A stand-in for NVIDIA's driver library, for machines without a GPU: what answers is one word per line in the
   file that REGROUP_TEST_GPUS names, "-" for a GPU that has fallen off the bus. Signatures as in NVML's reference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, NOT_INITIALISED = 1, WRONG_ARGUMENT = 2, LOST = 15, MOST = 64, LENGTH = 80 };
static char words[MOST][LENGTH];
static unsigned count;

int nvmlInitWithFlags(unsigned flags) {
  (void)flags;
  const char *path = getenv("REGROUP_TEST_GPUS");
  FILE *file = path ? fopen(path, "r") : NULL;
  if (!file) return NOT_INITIALISED;
  for (count = 0; count < MOST && fscanf(file, "%79s", words[count]) == 1; count++) {}
  fclose(file);
  return OK;
}
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int result) { return result == LOST ? "GPU is lost" : "stand-in error"; }
int nvmlDeviceGetCount_v2(unsigned *found) { *found = count; return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  if (index >= count) return WRONG_ARGUMENT;
  *device = words[index];
  return strcmp(words[index], "-") == 0 ? LOST : OK;
}
static int tell(const char *what, char *text, unsigned length) {
  if (strlen(what) >= length) return WRONG_ARGUMENT;
  strcpy(text, what);
  return OK;
}
int nvmlDeviceGetUUID(void *device, char *text, unsigned length) { return tell(device, text, length); }
int nvmlDeviceGetName(void *device, char *text, unsigned length) { (void)device; return tell("Stand-in", text, length); }
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory) {
  (void)device;
  memory[0] = memory[1] = 1ull << 30;
  memory[2] = 0;
  return OK;
}
