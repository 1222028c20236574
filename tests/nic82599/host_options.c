/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment variable NIC82599: what the model is to be, as WORD or WORD=VALUE between commas. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

struct nic_options nic_options;

static char text[4096];

/* @return false: the value does not fit the word */
static bool
take(const char *word, const char *value)
{
	struct nic_options *o = &nic_options;

	if (strcmp(word, "cards") == 0)
		return (o->cards = (unsigned)atoi(value)) >= 1 && o->cards <= NIC_CARDS;
	if (strcmp(word, "wire") == 0) {
		o->crossed = strcmp(value, "cross") == 0;
		return o->crossed || strcmp(value, "loop") == 0;
	}
	if (strcmp(word, "optics") == 0) {
		snprintf(o->optics, sizeof(o->optics), "%s", value);
		return strcmp(value, "dac") == 0 || strcmp(value, "sr") == 0 || strcmp(value, "none") == 0;
	}
	if (strcmp(word, "eeprom") == 0)
		return o->bad_eeprom = strcmp(value, "bad") == 0;
	if (strcmp(word, "chaos") == 0)
		return (o->chaos = (unsigned)atoi(value)) != 0;
	if (strcmp(word, "write_back") == 0)
		return (o->write_back_us = (unsigned)atoi(value)) != 0;
	if (strcmp(word, "paced") == 0)
		return o->paced = true;
	if (strcmp(word, "control") == 0)
		o->control = value;
	else if (strcmp(word, "trace") == 0)
		o->trace = value;
	else if (strcmp(word, "capture") == 0)
		o->capture = value;
	else if (strcmp(word, "report") == 0)
		o->report = value;
	else
		return false;
	return *value != '\0';
}

bool
host_read_options(void)
{
	const char *given = getenv("NIC82599");
	char *rest = text, *word;

	nic_options = (struct nic_options){.cards = 2, .crossed = true, .optics = "dac"};
	if (given == NULL)
		return false;
	snprintf(text, sizeof(text), "%s", given);
	while ((word = strsep(&rest, ",")) != NULL) {
		char *value = strchr(word, '=');

		if (*word == '\0')
			continue;
		if (value != NULL)
			*value++ = '\0';
		if (!take(word, value != NULL ? value : "")) {
			fprintf(stderr,
				"NIC82599: %s%s%s: expected cards=1..4, wire=cross|loop, optics=dac|sr|none, eeprom=bad, paced, chaos=SEED, write_back=MICROSECONDS, control|trace|capture|report=FILE\n",
				word, value != NULL ? "=" : "", value != NULL ? value : "");
			exit(2);
		}
	}
	return true;
}
