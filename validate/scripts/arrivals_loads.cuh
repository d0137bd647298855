// The loads that arrivals.cu plays, and how they are read: its head has the lines of a file.
#ifndef GRIDTIDE_VALIDATE_ARRIVALS_LOADS_CUH
#define GRIDTIDE_VALIDATE_ARRIVALS_LOADS_CUH

#include "sharing.cuh"

#include <fstream>
#include <map>
#include <sstream>
#include <string>

constexpr int MOST_LOADS = 4096, MOST_TENANTS = 8, KERNELS = 128, WARM = 3, ALONE = 10;

struct Step {
    std::string what;
    int blocks;
    double us;
    size_t bytes;
};

struct Tenant {
    bool critical, closed, two_streams;
    int kernels;
    std::vector<Step> steps;
    std::vector<double> arrivals_us;
};

struct Load {
    int number, slice; // slice: blocks of a best-effort launch at most; 0: all
    std::string how, policy;
    double us;
    std::vector<Tenant> tenants;

    bool processes() const
    {
        return how == "processes";
    }
    bool gated() const
    {
        return policy == "gate" || policy == "slices";
    }
};


static void refuse(int number, const std::string &text)
{
    fprintf(stderr, "arrivals: line %d: %s\n", number, text.c_str());
    exit(2);
}

static std::vector<Load> read_loads(const char *path)
{
    std::vector<Load> loads;
    std::ifstream file(path);
    std::string text, word;
    int number = 0;

    if (!file)
        refuse(0, "cannot read the file");
    while (std::getline(file, text)) {
        std::istringstream words(text);
        size_t tenant = 0;

        number++;
        if (text[0] == '#')
            puts(text.c_str());
        if (text.empty() || text[0] == '#')
            continue;
        words >> word;
        if (word == "load") {
            Load load = {};
            double ms = 0;
            words >> load.number >> load.how >> load.policy >> ms;
            load.us = ms * 1000;
            if (load.policy.compare(0, 7, "slices:") == 0) {
                load.slice = atoi(load.policy.c_str() + 7);
                load.policy = "slices";
            }
            if (load.processes() && load.policy != "none")
                refuse(number, "processes have no policy");
            loads.push_back(load);
        } else if (loads.empty() || !(words >> tenant) || tenant >= loads.back().tenants.size() + (word == "tenant")) {
            refuse(number, text);
        } else if (word == "tenant") {
            words >> word;
            loads.back().tenants.emplace_back();
            loads.back().tenants.back().critical = word == "critical";
        } else if (word == "step") {
            Tenant &of = loads.back().tenants[tenant];
            Step step = {};
            words >> step.what;
            if (step.what == "kernel" || step.what == "other")
                words >> step.blocks >> step.us, of.kernels++;
            else if (step.what == "in" || step.what == "out")
                words >> step.bytes;
            else if (step.what == "host")
                words >> step.us;
            else if (step.what != "join" && step.what != "sync")
                refuse(number, text);
            of.two_streams |= step.what == "other" || step.what == "join";
            of.steps.push_back(step);
        } else if (word == "arrive") {
            for (double us; words >> us;)
                loads.back().tenants[tenant].arrivals_us.push_back(us);
            words.clear();
        } else if (word == "closed") {
            loads.back().tenants[tenant].closed = true;
        }
        if (words.fail())
            refuse(number, text);
    }
    for (const Load &load : loads) {
        bool many = loads.size() > MOST_LOADS || load.tenants.size() > MOST_TENANTS;
        for (const Tenant &tenant : load.tenants) {
            many |= tenant.kernels > KERNELS;
            if (load.gated() && tenant.critical && tenant.closed)
                refuse(number, "behind the gate no best-effort request would be served");
        }
        if (many)
            refuse(number, "too many loads, tenants or kernels");
        if (load.how.compare(0, 6, "green:") == 0 &&
            (size_t)std::count(load.how.begin(), load.how.end(), ',') + 1 < load.tenants.size())
            refuse(number, "a tenant has no SMs");
    }
    return loads;
}

#endif
