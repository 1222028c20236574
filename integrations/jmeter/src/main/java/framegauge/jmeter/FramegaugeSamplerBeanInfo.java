// SPDX-License-Identifier: BSD-3-Clause
package framegauge.jmeter;

import java.beans.PropertyDescriptor;

import org.apache.jmeter.testbeans.BeanInfoSupport;
import org.apache.jmeter.testbeans.gui.TypeEditor;

/**
 * The form of the sampler in JMeter's window, which JMeter finds by its name. Its words are in
 * FramegaugeSamplerResources.properties.
 */
public final class FramegaugeSamplerBeanInfo extends BeanInfoSupport {
    public FramegaugeSamplerBeanInfo() {
        super(FramegaugeSampler.class);
        createPropertyGroup("test", new String[] {"plan", "set", "expect"});
        createPropertyGroup("run", new String[] {"program", "folder", "timeout"});
        describe(property("plan", TypeEditor.FileEditor), "");
        describe(property("set", TypeEditor.TextAreaEditor), "");
        describe(property("expect", TypeEditor.TextAreaEditor), "");
        describe(property("program"), "framegauge");
        describe(property("folder"), "framegauge-runs");
        describe(property("timeout"), 0);
    }

    private static void describe(PropertyDescriptor property, Object value) {
        property.setValue(NOT_UNDEFINED, Boolean.TRUE);
        property.setValue(DEFAULT, value);
    }
}
